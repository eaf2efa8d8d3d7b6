/** Opens channels, until the answer, the connection's end or the deadline. */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { connectionLost, printable, timedOut } from './ssh-errors.ts';
import type { RemoteShell } from './remote-stream.ts';
import { placeOf, type SshTarget } from './target.ts';

interface Channel {
  end(): unknown;
}

export type OpenChannel<C> = (
  done: (error: Error | undefined, channel: C) => void,
) => void;

/** The shells of a connection, from the request for one until its stream has closed. */
export class OpenShells {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param open is given how many there are besides */
  async counted<S extends RemoteShell>(
    open: (others: number) => Promise<S>,
  ): Promise<S> {
    const others = this.#count++;
    const leave = (): void => {
      this.#count--;
    };
    try {
      const shell = await open(others);
      if (shell.closed) leave();
      else shell.once('close', leave);
      return shell;
    } catch (error) {
      leave();
      throw error;
    }
  }
}

export interface ChannelRequest {
  readonly target: SshTarget;
  readonly what: string;
  /** Shells that are open on its connection. */
  readonly shells?: number | undefined;
}

/**
 * Opens a channel and wraps it in the same turn: its data and its end may be in the same
 * network packet, and their events do not wait.
 */
export function channelOf<C extends Channel, T>(
  { target, what, shells = 0 }: ChannelRequest,
  lost: () => GradwireError | undefined,
  wrap: (channel: C) => T,
  start: OpenChannel<C>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false;
    const fail = (error: GradwireError): void => {
      over = true;
      clearTimeout(deadline);
      reject(error);
    };
    const deadline = setTimeout(() => {
      fail(timedOut(target, `opening ${what}`, target.connectTimeoutMs));
    }, target.connectTimeoutMs);
    const done = (error: Error | undefined, channel: C): void => {
      if (error !== undefined) {
        // When a connection ends, ssh2 answers all pending openings.
        fail(lost() ?? channelRefused({ target, what, shells }, error));
      } else if (over) {
        channel.end(); // no longer awaited
      } else {
        clearTimeout(deadline);
        resolve(wrap(channel));
      }
    };
    try {
      start(done);
    } catch (error) {
      fail(lost() ?? connectionLost(target, error));
    }
  });
}

function channelRefused(
  { target, what, shells = 0 }: ChannelRequest,
  cause: Error,
): GradwireError {
  const terminals = shells === 1 ? '1 terminal is' : `${shells} terminals are`;
  return failure(
    'SSH_CHANNEL_REFUSED',
    `the server refused to open ${what}: ${printable(cause.message)}`,
    {
      place: placeOf(target),
      next:
        shells === 0
          ? 'Its administrator may have disabled this, or set MaxSessions of sshd too low.'
          : `${terminals} open on this connection: close one and try again. If that does not help, its administrator may have disabled this, or set MaxSessions of sshd too low.`,
    },
  );
}
