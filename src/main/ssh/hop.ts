/**
 * One server on the route: connects, checks its key, authenticates. Every hop of a
 * connection does all three separately.
 */
import net from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2, { type Client } from 'ssh2';
import { saysClosed } from './closed-connection.ts';
import { failure, GradwireError, withNotices } from '../../shared/errors/errors.ts';
import { mismatchOf, OfferReader, type Offer } from './algorithm-offer.ts';
import { Authentication } from './authentication.ts';
import { PausableDeadline } from './deadline.ts';
import { HostKeyCheck, type HostKeyOptions } from './host-key-check.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import {
  aborted,
  connectionLost,
  dialFailed,
  HUNG_UP,
  noCommonAlgorithms,
  printable,
  TOO_MANY_KEYS,
  unreachable,
} from './ssh-errors.ts';
import { placeOf, type SshTarget } from './target.ts';

/** Consecutive keep-alives that may stay unanswered. */
const KEEPALIVES_MISSED = 3;
const BANNER_LIMIT = 8192;

export interface HopContext extends HostKeyOptions {
  /** The stream through the previous hop; undefined for TCP from here. */
  readonly way: Duplex | undefined;
  readonly questions: SshQuestions | undefined;
  readonly secrets: RememberedSecrets;
  readonly signal: AbortSignal | undefined;
  /** Whether it is only on the way to the machine. */
  readonly jump: boolean;
}

/** The end of a connection, with its cause; without an error, we closed it. */
export interface SshEnd {
  readonly error: GradwireError | undefined;
}

export interface Hop {
  readonly client: Client;
  /** The server's banner before the log-in. */
  readonly banner: string;
  readonly notices: readonly string[];
  /** Resolves when the connection is gone. */
  readonly gone: Promise<SshEnd>;
  /** The value of `gone`, available at once, because channels end in the same turn. */
  readonly ended: SshEnd | undefined;
  close(): void;
}

/** @throws GradwireError `SSH_…`, `HOST_KEY_…`, `ABORTED` */
export async function openHop(target: SshTarget, context: HopContext): Promise<Hop> {
  const { signal } = context;
  if (signal?.aborted === true) throw aborted(target, 'connecting');
  return await new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    const check = new HostKeyCheck(target, context);
    /** Withdraws open questions when the connection ends. */
    const over = new AbortController();
    let stage: 'dialling' | 'greeting' | 'authenticating' | 'ready' | 'over' =
      'dialling';
    let banner = '';
    let transport: Duplex | undefined;
    let offered: OfferReader | undefined;
    const whyFailed = (error: SshError): GradwireError =>
      /no matching/.test(error.message)
        ? noCommonAlgorithm(target, error, offered?.offer, check.algorithms)
        : explain(error, stage, target, authentication);
    let ended: SshEnd | undefined;
    let tellGone: (end: SshEnd) => void = () => undefined;
    const gone = new Promise<SshEnd>((tell) => {
      tellGone = tell;
    });

    const end = (error: unknown): void => {
      if (stage === 'over') return;
      const wasReady = stage === 'ready';
      stage = 'over';
      deadline.clear();
      signal?.removeEventListener('abort', abort);
      if (wasReady) {
        const coded = error instanceof GradwireError || error === undefined;
        ended = { error: coded ? error : connectionLost(target, error) };
        tellGone(ended);
      } else reject(withNotices(error, check.notices) as Error);
      over.abort(error);
      client.end();
      (transport ?? context.way)?.destroy();
    };
    const abort = (): void => {
      end(aborted(target, 'connecting'));
    };
    const deadline = new PausableDeadline(target.connectTimeoutMs, () => {
      end(unreachable(target, tooSlow(stage, target.connectTimeoutMs)));
    });
    signal?.addEventListener('abort', abort, { once: true });

    const authentication = new Authentication(target, {
      questions: context.questions,
      secrets: context.secrets,
      jump: context.jump,
      deadline,
      signal: over.signal,
      giveUp: end,
    });

    client.on('handshake', () => {
      if (stage === 'over') return;
      try {
        check.proved();
      } catch (error) {
        end(error);
        return;
      }
      if (stage === 'greeting') stage = 'authenticating';
    });
    client.on('banner', (text) => {
      banner = (banner + text).slice(0, BANNER_LIMIT);
    });
    client.on('ready', () => {
      if (stage === 'over') return;
      stage = 'ready';
      deadline.clear();
      signal?.removeEventListener('abort', abort);
      authentication.succeeded();
      const close = (): void => {
        end(undefined);
      };
      resolve({
        client,
        banner,
        notices: [...check.notices, ...authentication.notices],
        gone,
        get ended() {
          return ended;
        },
        close,
      });
    });
    client.on('change password', () => {
      end(
        failure('SSH_PASSWORD_EXPIRED', 'the server requires a new password', {
          place: placeOf(target),
          next: 'Change it with ssh in a terminal, then connect again.',
        }),
      );
    });
    client.on('error', (error: SshError) => {
      // The agent did not sign: try the next method.
      if (error.level === 'agent') return;
      end(whyFailed(error));
    });
    const closed = (): void => {
      end(
        stage === 'ready'
          ? connectionLost(target)
          : explain(
              new Error('it closed the connection'),
              stage,
              target,
              authentication,
            ),
      );
    };
    // A way through another hop may end long before it closes, and ssh2 then sends no more
    // signs of life.
    client.on('end', closed);
    client.on('close', closed);

    const begin = (way: Duplex): void => {
      transport = way;
      stage = 'greeting';
      offered = new OfferReader(way);
      try {
        client.connect({
          // ssh2 takes any duplex stream here, but its types allow only sockets.
          sock: way as net.Socket,
          username: target.user,
          hostVerifier: (key: Buffer, verify: (good: boolean) => void) => {
            if (check.hasAccepted) {
              const changed = check.verifyAgain(key);
              if (changed !== undefined) end(changed);
              verify(changed === undefined);
              return;
            }
            const checking = check.verify(key, context.questions, over.signal);
            deadline.during(checking).then(
              () => {
                if (stage !== 'over') verify(true);
              },
              (error: unknown) => {
                end(error);
              },
            );
          },
          authHandler: authentication.next as never,
          algorithms: { serverHostKey: [...check.algorithms] },
          // We set deadlines, because ssh2's does not pause while the user is asked.
          readyTimeout: 0,
          keepaliveInterval: target.keepaliveSeconds * 1000,
          keepaliveCountMax: KEEPALIVES_MISSED,
        });
      } catch (error) {
        end(error);
      }
    };

    if (context.way !== undefined) {
      begin(context.way);
      return;
    }
    const socket = net.connect({ host: target.host, port: target.port, noDelay: true });
    transport = socket;
    const refused = (cause: Error): void => {
      end(dialFailed(target, cause));
    };
    socket.once('error', refused);
    socket.once('connect', () => {
      socket.removeListener('error', refused);
      if (stage !== 'over') begin(socket);
    });
  });
}

/** ssh2 adds the source to its errors. */
interface SshError extends Error {
  readonly level?: string;
  /** The reason of a DISCONNECT message (RFC 4253, section 11.1). */
  readonly code?: string | number;
}

function tooSlow(stage: string, milliseconds: number): string {
  switch (stage) {
    case 'dialling':
      return `no answer within ${milliseconds} ms`;
    case 'greeting':
      return `it accepts connections, but did not speak SSH within ${milliseconds} ms`;
    default:
      return `did not finish authentication within ${milliseconds} ms`;
  }
}

function explain(
  error: SshError,
  stage: string,
  target: SshTarget,
  authentication: Authentication,
): GradwireError {
  const text = saysClosed(error)
    ? 'it closed the connection'
    : printable(error.message);
  const place = placeOf(target);
  if (stage === 'ready') {
    return connectionLost(
      target,
      error.level === 'client-timeout'
        ? `no sign of life for ${(KEEPALIVES_MISSED + 1) * target.keepaliveSeconds} s`
        : error,
    );
  }
  if (error.level === 'client-authentication') return authentication.failed();
  if (typeof error.code === 'number') {
    // The server's own words, such as "Too many authentication failures".
    return stage === 'authenticating'
      ? failure('SSH_AUTH_FAILED', `the server ended the login attempt: ${text}`, {
          place,
          next: TOO_MANY_KEYS,
        })
      : unreachable(target, `the server refused: ${text}`);
  }
  if (stage === 'authenticating' && /Bad packet length/.test(error.message)) {
    return failure(
      'SSH_PACKET_TOO_LARGE',
      'the server sent more at once than the built-in SSH client takes (35,000 bytes), probably its banner',
      {
        place,
        next: 'The system’s ssh takes it: gradwire nodes edit NAME --transport system.',
      },
    );
  }
  if (stage === 'authenticating') {
    // Not a refusal: the machine may be going down, or the network.
    return failure('SSH_LOGIN_INTERRUPTED', `the log-in was interrupted: ${text}`, {
      place,
      next: 'Look for the reason in the server’s log.',
    });
  }
  return unreachable(target, `no SSH connection: ${text}`, HUNG_UP);
}

/** @param hostKeys the algorithms that were offered to the server */
function noCommonAlgorithm(
  target: SshTarget,
  error: SshError,
  offer: Offer | undefined,
  hostKeys: readonly string[],
): GradwireError {
  const mismatch = offer === undefined ? undefined : mismatchOf(offer, hostKeys);
  return noCommonAlgorithms(target, mismatch?.text ?? printable(error.message), {
    outdated: mismatch?.outdated === true,
    builtin: true,
  });
}
