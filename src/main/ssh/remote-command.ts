/** Runs a remote command to its end: input in, bounded output out. */
import { Readable } from 'node:stream';
import { failure } from '../../shared/errors/errors.ts';
import type { RemoteExit, RemoteStream } from './remote-stream.ts';
import { aborted, timedOut } from './ssh-errors.ts';
import { placeOf, type SshTarget } from './target.ts';

export interface CommandOptions {
  /** The command's stdin, closed afterwards. */
  readonly input?: Uint8Array | string | Readable | undefined;
  /** The command's name in errors; default: the command itself. */
  readonly title?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
  /** The mark that the command prints first, and by when: a login shell may hang before. */
  readonly begins?: { readonly mark: string; readonly withinMs: number } | undefined;
  /** Limit for stdout in bytes; more is an error. */
  readonly maxBytes?: number | undefined;
}

export interface CommandResult extends RemoteExit {
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}

const MAX_BYTES = 2 ** 20;
const DEADLINE_MS = 60_000;

/**
 * @param command the command line
 * @throws GradwireError `SSH_TIMEOUT`, `SSH_OUTPUT_TOO_LARGE`, `SSH_CONNECTION_LOST`,
 * `ABORTED`. A failing exit is not an error.
 */
export async function finishCommand(
  stream: RemoteStream,
  command: string,
  target: SshTarget,
  {
    input,
    title: name = command,
    signal,
    deadlineMs = DEADLINE_MS,
    begins,
    maxBytes = MAX_BYTES,
  }: CommandOptions,
): Promise<CommandResult> {
  const stop = (error: Error): void => {
    stream.signal('TERM');
    stream.destroy(error);
  };
  const abort = (): void => {
    stop(aborted(target, name));
  };
  const deadline = setTimeout(() => {
    stop(timedOut(target, name, deadlineMs));
  }, deadlineMs);
  let begun = begins === undefined;
  const beginning = setTimeout(() => {
    if (!begun) stop(shellSilent(target, begins?.withinMs ?? 0));
  }, begins?.withinMs ?? 0);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    feed(stream, input, stop);
    const chunks: Buffer[] = [];
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) stop(outputTooLarge(target, name, maxBytes));
        else chunks.push(chunk);
        begun ||= Buffer.concat(chunks).includes(begins!.mark);
      });
      stream.once('end', resolve);
      stream.once('error', (error: NodeJS.ErrnoException) => {
        // A command need not read all of its input.
        if (error.code === 'EPIPE') resolve();
        else reject(error);
      });
      stream.once('close', resolve);
    });
    const exit = await stream.exit;
    return {
      ...exit,
      stdout: Buffer.concat(chunks).toString('utf8'),
      stderr: stream.stderr,
    };
  } finally {
    clearTimeout(deadline);
    clearTimeout(beginning);
    signal?.removeEventListener('abort', abort);
    stream.destroy();
  }
}

function feed(
  stream: RemoteStream,
  input: CommandOptions['input'],
  stop: (error: Error) => void,
): void {
  if (input instanceof Readable) {
    input.once('error', stop);
    stream.once('close', () => input.destroy());
    input.pipe(stream);
  } else {
    stream.end(input ?? '');
  }
}

function shellSilent(target: SshTarget, milliseconds: number): Error {
  return failure(
    'SSH_TIMEOUT',
    `its login shell has run no command within ${milliseconds / 1000} s`,
    {
      place: placeOf(target),
      next: 'See what that account’s start files wait for: log in with ssh in a terminal.',
    },
  );
}

function outputTooLarge(target: SshTarget, name: string, maxBytes: number): Error {
  return failure('SSH_OUTPUT_TOO_LARGE', `${name} wrote more than ${maxBytes} bytes`, {
    place: placeOf(target),
    next: 'Check what that account’s login shell prints.',
  });
}
