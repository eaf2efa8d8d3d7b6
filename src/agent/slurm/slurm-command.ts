/**
 * Runs Slurm's commands, in an environment where only our options count. A command that does
 * not answer is killed with all that it has started: a site's wrapper may be a shell script.
 */
import { spawn } from 'node:child_process';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';

/** A busy controller answers late; an absent one makes commands wait this long. */
const ANSWER_MS = 60_000;

export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was killed because it did not answer. */
  readonly late: boolean;
}

interface CallOptions {
  readonly input?: string;
  /** The login node's name, for errors. */
  readonly node?: string;
  readonly answerMs?: number;
  /** Kills the command. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws (rejects) GradwireError `SLURM_MISSING` */
export function callSlurm(
  command: string,
  args: readonly string[],
  { input = '', node = 'NAME', answerMs = ANSWER_MS, signal }: CallOptions = {},
): Promise<Called> {
  return new Promise((resolve, reject) => {
    // A process group of its own, which can be killed whole.
    const child = spawn(command, args, { env: slurmEnvironment(), detached: true });
    const said = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        said[stream] += text;
      });
    }
    const settle = (code: number, late: boolean): void => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', kill);
      resolve({ code, ...said, late });
    };
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
      child.stdout.destroy();
      child.stderr.destroy();
      settle(1, true);
    };
    const deadline = setTimeout(kill, answerMs);
    signal?.addEventListener('abort', kill, { once: true });
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', kill);
      if (error.code === 'ENOENT') reject(missing(command, node));
      else resolve({ code: 1, stdout: '', stderr: error.message, late: false });
    });
    child.once('close', (code) => {
      settle(code ?? 1, false);
    });
    child.stdin.on('error', () => undefined); // It has said why, or ends without reading.
    child.stdin.end(input);
    if (signal?.aborted === true) kill();
  });
}

/** Variables that change what commands do or print; only ours may count. */
export function strayVariables(environment = process.env): readonly string[] {
  return Object.keys(environment).filter((name) => STRAY.test(name) && !KEPT.has(name));
}

/** A filter of a user's own would hide the job; an array or a wait would change it. */
const STRAY = /^(SLURM_|SQUEUE_|SCANCEL_|SCONTROL_|SBATCH_(ARRAY_INX|WAIT|TEST_ONLY)$)/;

/** The cluster and the user. */
const KEPT: ReadonlySet<string> = new Set([
  'SLURM_CONF',
  'SLURM_JWT',
  'SLURM_CLUSTERS',
]);

export function slurmEnvironment(): NodeJS.ProcessEnv {
  const stray = new Set(strayVariables());
  const rest = Object.entries(process.env).filter(([name]) => !stray.has(name));
  return { ...Object.fromEntries(rest), SLURM_TIME_FORMAT: 'standard' };
}

function missing(command: string, node: string): GradwireError {
  return failure('SLURM_MISSING', `this machine has no ${command}`, {
    next:
      'Check that it is a login node of a Slurm cluster and that Slurm is in the PATH of SSH ' +
      `commands (ssh HOST command -v sbatch). If it is not one: gradwire nodes edit ${node} --unset slurm.`,
  });
}

/** `sbatch: error: a\nsbatch: error: b` → `a; b` */
export function wordsOf({ stderr, late }: Pick<Called, 'stderr' | 'late'>): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^\w+: (error|fatal): /, '').trim())
    .filter((line) => line !== '');
  if (late) lines.push('it did not answer in time');
  return lines.length === 0 ? 'no reason given' : lines.slice(-3).join('; ');
}
