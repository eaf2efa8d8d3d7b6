/** Errors of programs, as the user reads them. */
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ProgramExit } from './program-run.ts';

/** The status with which a shell says that there is no such program, or that it may not run it. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface Circumstances {
  readonly run: string;
  readonly rank: number;
  readonly observes: boolean;
  /** Whether its gradwire has connected. */
  readonly isConnected: boolean;
  /** Whether it has attached a model. */
  readonly isAttached: boolean;
}

/** A program has ended before its run: it failed, or never trained. */
export function endedEarly(
  { code, signal, stderr }: ProgramExit,
  { isAttached, isConnected, observes, rank, run }: Circumstances,
): GradwireError {
  const last = lastWords(stderr);
  if (code === NOT_FOUND || code === NOT_EXECUTABLE) {
    return failure(
      'PROGRAM_NOT_FOUND',
      last === '' ? 'the program is not found' : last,
      {
        rank,
        next: 'Check workload.command and workload.workdir on this machine, or add setup lines.',
      },
    );
  }
  if (code !== 0) {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    return failure(
      'PROGRAM_FAILED',
      `the program ended ${how}${last === '' ? '' : `: ${last}`}`,
      {
        rank,
        next: `Read the log of this rank: gradwire runs log ${run} --rank ${rank}.`,
      },
    );
  }
  if (observes) {
    return failure(
      'PROGRAM_NOT_SEEN',
      'the program ended without a step of an optimiser',
      {
        rank,
        next: 'Observe a program that trains with PyTorch; read its log.',
      },
    );
  }
  if (isAttached) {
    return failure(
      'PROGRAM_ENDED_EARLY',
      'the program ended in mid-run with exit code 0, without a word',
      {
        rank,
        next: 'Let it end by returning or by sys.exit(), not by os._exit() or another program in its place.',
      },
    );
  }
  return failure(
    'PROGRAM_NOT_JOINED',
    isConnected
      ? 'the program joined and ended without attaching a model'
      : 'the program ended without joining',
    {
      rank,
      next: 'Call gradwire.join() in it, and attach its model: docs/pytorch.md. Or only observe it.',
    },
  );
}

/** A Python error's line, which torchrun marks with the rank, and not torchrun's own. */
const ERROR_LINE =
  /^(?:\[rank\d+\]: )?(?!.*\bChildFailedError\b)([\w.]*(?:Error|Exception|Interrupt)\b.*)$/;

/** The line that says why: the last one, but of a launcher the last error of a rank. */
function lastWords(stderr: string): string {
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => line.trim());
  const isLauncher = lines.some((line) => line.includes('ChildFailedError'));
  const told = lines.flatMap((line) => ERROR_LINE.exec(line)?.[1] ?? []);
  return (isLauncher ? told.at(-1) : undefined) ?? lines.at(-1) ?? '';
}

/** A program that something else has started is gone. */
export const goneOutside = (rank: number): GradwireError =>
  failure('PROGRAM_GONE', 'the program has ended, or closed its connection', {
    rank,
    next: 'Read its output where it was started.',
  });

/** The program closed its socket and lives on. */
export const lostLink = (rank: number): GradwireError =>
  failure('BRIDGE_LOST', 'the program has closed its connection and goes on', {
    rank,
    next: 'Read its log: a thread or a signal handler of it may have ended gradwire.',
  });

export const noWorkdir = (workdir: string): GradwireError =>
  inputError('WORKDIR_MISSING', `there is no directory ${workdir}`, {
    place: 'workload.workdir',
    next: 'Create it on every machine of the run, or correct it.',
  });

export const notStarted = (error: unknown, rank: number): GradwireError =>
  failure(
    'PROGRAM_NOT_STARTED',
    `the program cannot be started: ${error instanceof Error ? error.message : String(error)}`,
    { rank },
  );

export const unexpected = (type: string, rank: number): GradwireError =>
  failure('BRIDGE_INVALID', `the program sent "${type}" where it makes no sense`, {
    rank,
    next: 'Use one model and one thread for steps; if you do, report this as a bug.',
  });
