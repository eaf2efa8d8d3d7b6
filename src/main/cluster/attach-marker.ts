/**
 * The start of the agent's output on a stream: a line with a marker, after everything that
 * the user's login shell prints.
 */
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { toldError } from '../../shared/protocol/sent-error.ts';
import type { RemoteStream } from '../ssh/remote-stream.ts';

const EXIT_NONE_RUNS = 3;
/** No supervisor may start there; the last line on stderr is the error, as JSON. */
const EXIT_REFUSED = 4;
/** Most output of a login shell before the agent's first output. */
const MOST_NOISE_BYTES = 2 ** 20;
const ATTACH_MS = 90_000;

/**
 * Reads up to the line with the marker and leaves the rest unread.
 * @returns false if the command reports that no supervisor runs
 * @throws GradwireError `ATTACH_FAILED`
 */
export async function skipTo(
  marker: string,
  stream: RemoteStream,
  node: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = setTimeout(() => {
    stream.destroy(attachFailed(node, `no answer within ${ATTACH_MS / 1000} s`));
  }, ATTACH_MS);
  const cancel = (): void => {
    stream.destroy(failure('ABORTED', 'connecting was cancelled', { place: node }));
  };
  try {
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    if (await readUpTo(Buffer.from(`${marker}\n`), stream, node)) return true;
    const { code } = await stream.exit;
    if (code === EXIT_NONE_RUNS) return false;
    if (code === EXIT_REFUSED) throw refusalOf(stream.stderr, node);
    throw attachFailed(node, stream.stderr.trim() || `it ended with code ${code}`);
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', cancel);
  }
}

/** Returns the reason why no supervisor may start there. */
function refusalOf(stderr: string, node: string): GradwireError {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  const error = toldError(line);
  return error === undefined
    ? attachFailed(node, stderr.trim())
    : new GradwireError({ ...error, place: node });
}

/** False if the stream ends first. Its other listeners stay. */
function readUpTo(
  wanted: Buffer,
  stream: RemoteStream,
  node: string,
): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const settle = (settled: () => void): void => {
      stream.off('readable', read).off('end', end).off('close', end).off('error', fail);
      settled();
    };
    const end = (): void => {
      settle(() => {
        resolve(false);
      });
    };
    const fail = (error: Error): void => {
      settle(() => {
        reject(error);
      });
    };
    const read = (): void => {
      for (;;) {
        const chunk = stream.read() as Buffer | null;
        if (chunk === null) return;
        seen = Buffer.concat([seen, chunk]);
        const at = seen.indexOf(wanted);
        if (at >= 0) {
          settle(() => {
            stream.unshift(seen.subarray(at + wanted.length));
            resolve(true);
          });
          return;
        }
        if (seen.length > MOST_NOISE_BYTES) {
          fail(attachFailed(node, 'its login shell never stops printing'));
          return;
        }
      }
    };
    stream.on('readable', read).on('end', end).on('close', end).on('error', fail);
  });
}

/** The error of an agent that did not answer. */
export function attachFailed(node: string, reason: string): GradwireError {
  return failure('ATTACH_FAILED', `the agent did not answer: ${reason}`, {
    place: node,
    next:
      `Read its supervisor’s log: gradwire nodes log ${node}. If the agent is damaged, ` +
      `deploy it again: gradwire nodes deploy ${node}.`,
  });
}
