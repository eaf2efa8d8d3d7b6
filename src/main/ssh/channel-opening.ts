/** Opens channels, until the answer, the connection's end or the deadline. */
import { failure, type GradwireError } from '../../shared/errors.ts';
import { connectionLost, messageOf, printable, timedOut } from './ssh-errors.ts';
import { placeOf, type SshTarget } from './target.ts';

interface Channel {
  end(): unknown;
}

export type OpenChannel<C> = (
  done: (error: Error | undefined, channel: C) => void,
) => void;

/**
 * Opens a channel and wraps it in the same turn: its data and its end may be in the same
 * network packet, and their events do not wait.
 */
export function channelOf<C extends Channel, T>(
  target: SshTarget,
  what: string,
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
        fail(lost() ?? channelRefused(target, what, error));
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
      fail(lost() ?? connectionLost(target, messageOf(error)));
    }
  });
}

function channelRefused(target: SshTarget, what: string, cause: Error): GradwireError {
  return failure(
    'SSH_CHANNEL_REFUSED',
    `the server refused to open ${what}: ${printable(cause.message)}`,
    {
      place: placeOf(target),
      next: 'Its administrator may have disabled this, or the sessions may have reached MaxSessions.',
    },
  );
}
