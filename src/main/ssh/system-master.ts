/**
 * The start of the system's `ssh` as the master of a connection: it connects and logs in,
 * with our answers to its questions, and then offers a control socket.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../disk/temporary-directory.ts';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { Askpass } from './askpass.ts';
import { PausableDeadline } from './deadline.ts';
import { missingKeys } from './key-file.ts';
import { RememberedSecrets } from './remembered-secrets.ts';
import type { SshOpenOptions } from './remote-connection.ts';
import { aborted, unreachable } from './ssh-errors.ts';
import { masterArguments } from './system-arguments.ts';
import { explainFailure, type SystemWords } from './system-failure.ts';
import { SystemProcess } from './system-process.ts';
import { SystemQuestions } from './system-questions.ts';
import { checkTarget, hopsTo, type SshTarget } from './target.ts';

/**
 * Interval of checks for the master's socket, which appears once it has authenticated.
 */
const LOOK_MS = 20;
const DIRECTORY_PREFIX = 'gradwire-ssh-';
/**
 * The most bytes of its directory's parent: `sockaddr_un.sun_path`, minus the suffix that OpenSSH
 * appends while it creates the socket.
 */
const LONGEST_PARENT = 103 - 18 - `/${DIRECTORY_PREFIX}XXXXXX/s`.length;

/** An `ssh` that has logged in. */
export interface Master {
  readonly process: SystemProcess;
  /** Returns what it has said so far. */
  readonly words: () => SystemWords;
  /** The path of its control socket. */
  readonly socket: string;
  /** Removes its directory. */
  readonly remove: () => void;
}

/**
 * Makes `ssh` connect through all hops. Without `asker` nothing is asked.
 * @param use takes the connected `ssh` into use; if it fails, `ssh` is stopped
 * @throws GradwireError `SSH_TARGET_INVALID`, `SSH_CLIENT_MISSING`,
 * `SSH_SYSTEM_UNSUPPORTED`, `SSH_UNREACHABLE`, `HOST_KEY_…`, `SSH_AUTH_…`,
 * `SSH_CONFIG_INVALID`, `ABORTED`
 */
export async function startMaster<T>(
  target: SshTarget,
  asker: SshQuestions | undefined,
  options: SshOpenOptions,
  use: (master: Master) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  if (process.platform === 'win32') throw unsupported(target);
  hopsTo(target).forEach(checkTarget);
  if (signal?.aborted === true) throw aborted(target, 'connecting');
  // Its control socket is for the user alone.
  const directory = temporaryDirectory(DIRECTORY_PREFIX, {
    preferred: options.directory,
    longest: LONGEST_PARENT,
  });
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  const over = new AbortController();
  let running: SystemProcess | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const deadlineMs = hopsTo(target).reduce(
        (sum, { connectTimeoutMs }) => sum + connectTimeoutMs,
        0,
      );
      const deadline = new PausableDeadline(deadlineMs, () => {
        reject(unreachable(target, `ssh did not connect within ${deadlineMs} ms`));
      });
      signal?.addEventListener(
        'abort',
        () => {
          reject(aborted(target, 'connecting'));
        },
        { signal: over.signal },
      );
      const connect = async (): Promise<T> => {
        const questions = new SystemQuestions(target, {
          questions: options.interactive === false ? undefined : asker,
          confirmedHostKeys: options.confirmedHostKeys ?? [],
          secrets: options.secrets ?? new RememberedSecrets(),
          deadline,
          signal: over.signal,
          giveUp: reject,
        });
        await using askpass = await Askpass.listen(directory, questions.answer);
        const log = path.join(directory, 'log');
        const socket = path.join(directory, 's');
        if (over.signal.aborted) throw aborted(target, 'connecting');
        const master = masterArguments(target, {
          socket,
          log,
          passwords: questions.passwords,
          acceptedHostKeys:
            options.acceptedHostKeys ?? path.join(directory, 'known_hosts'),
        });
        const ssh = new SystemProcess(['ssh', ...master], directory, {
          ...process.env,
          SSH_ASKPASS: askpass.program,
          SSH_ASKPASS_REQUIRE: 'force',
          // OpenSSH before 8.4 asks nothing without a display.
          DISPLAY: process.env['DISPLAY'] ?? ':0',
        });
        running = ssh;
        const words = (): SystemWords => ({
          log: existsSync(log) ? readFileSync(log, 'utf8') : '',
          stderr: ssh.stderr,
          interactive: questions.interactive,
          locked: questions.locked,
          missing: missingKeys(hopsTo(target).flatMap(({ identities }) => identities)),
        });
        while (!existsSync(socket) && !over.signal.aborted) {
          if (ssh.hasEnded) {
            throw questions.refused ?? explainFailure(target, words());
          }
          await new Promise((resume) => setTimeout(resume, LOOK_MS));
        }
        if (over.signal.aborted) throw aborted(target, 'connecting');
        const used = await use({ process: ssh, words, socket, remove });
        questions.succeeded();
        return used;
      };
      connect()
        .then(resolve, reject)
        .finally(() => {
          deadline.clear();
        });
    });
  } catch (error) {
    over.abort(error);
    await running?.stop();
    remove();
    throw error;
  } finally {
    over.abort(new Error('the attempt is over'));
  }
}

function unsupported({ system }: SshTarget): GradwireError {
  return failure(
    'SSH_SYSTEM_UNSUPPORTED',
    'OpenSSH for Windows cannot share a connection, which Gradwire needs with the system’s ssh',
    {
      place: system?.name,
      next: 'Use the built-in client: gradwire nodes edit NAME --transport builtin.',
    },
  );
}
