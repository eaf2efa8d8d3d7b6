/** Errors of programs, as the user reads them. */
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { MORE_MEMORY } from '../memory/memory-kills.ts';
import type { ProgramExit } from './program-run.ts';

/** The status with which a shell says that there is no such program, or that it may not run it. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface Circumstances {
  readonly run: string;
  readonly rank: number;
  readonly observes: boolean;
  /** Whether it is a launcher, which starts all ranks of the machine. */
  readonly isLauncher: boolean;
  /** Whether its gradwire has connected. */
  readonly isConnected: boolean;
  /** Whether it has attached a model. */
  readonly isAttached: boolean;
}

/** A program has ended before its run: it failed, or never trained. */
export function endedEarly(
  exit: ProgramExit,
  circumstances: Circumstances,
): GradwireError {
  const { isAttached, isConnected, isLauncher, observes, rank, run } = circumstances;
  if (isLauncher) return launcherEnded(exit, circumstances);
  const { code, reason, signal, stderr } = exit;
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
      `the program ended ${how}${said(reason ?? last)}`,
      {
        rank,
        next:
          reason === undefined
            ? `Read the log of this rank: gradwire runs log ${run} --rank ${rank}.`
            : MORE_MEMORY,
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

/**
 * A launcher has ended before its ranks. It is the child of the first rank of its machine, which is
 * to blame only if the launcher says so: torchrun names the rank that failed first.
 */
function launcherEnded(
  { code, signal, stderr }: ProgramExit,
  { isAttached, isConnected, observes, rank, run }: Circumstances,
): GradwireError {
  const log = `gradwire runs log ${run} --rank`;
  const how =
    signal !== null
      ? `by ${signal}`
      : code === NOT_FOUND || code === NOT_EXECUTABLE
        ? 'before it began'
        : `with exit code ${code}`;
  const last = lastWords(stderr);
  const [, failed, status] = FAILED_RANK.exec(stderr) ?? [];
  if (failed !== undefined) {
    const end =
      Number(status) < 0 ? `by signal ${-Number(status)}` : `with exit code ${status}`;
    return failure('PROGRAM_FAILED', `the program ended ${end}${said(last)}`, {
      rank: Number(failed),
      next: `Read the log of its launcher: ${log} ${rank}.`,
    });
  }
  const when = isAttached
    ? ', in mid-run'
    : observes
      ? `, before rank ${rank} had taken a step`
      : isConnected
        ? `, before rank ${rank} had attached a model`
        : `, before rank ${rank} had joined`;
  return failure(
    'LAUNCHER_FAILED',
    `the launcher ended ${how}${code === 0 ? when : ''}${said(last)}`,
    {
      next:
        code === 0
          ? 'Let it wait for its ranks, and let each of them join: docs/pytorch.md.'
          : `Read its log: ${log} ${rank}.`,
    },
  );
}

/** Lines of torchrun's summary that name the rank which failed first, and how it ended. */
const FAILED_RANK =
  /Root Cause[^]*?^ *rank *: (\d{1,6})\b[^]*?^ *exitcode *: (-?\d{1,6})\b/m;

const said = (last: string): string => (last === '' ? '' : `: ${last}`);

/** A Python error's line, which torchrun marks with the rank, and not torchrun's own. */
const ERROR_LINE =
  /^(?:\[rank\d+\]: )?(?!.*\bChildFailedError\b)([\w.]*(?:Error|Exception|Interrupt)\b.*)$/;

/**
 * The line that says why: the last one, but of a launcher the last error of a rank. An exception
 * whose message has several lines is told by its first and last; behind a fatal error of Python come
 * its threads.
 */
export function lastWords(stderr: string): string {
  const raw = stderr.trimEnd().split('\n');
  const lines = raw.map((line) => line.trim());
  const isLauncher = lines.some((line) => line.includes('ChildFailedError'));
  const told = lines.flatMap((line) => ERROR_LINE.exec(line)?.[1] ?? []);
  if (isLauncher) return told.at(-1) ?? '';
  const fatal = lines.find((line) => line.startsWith('Fatal Python error: '));
  if (fatal !== undefined) return fatal;
  const last = lines.at(-1)!;
  const exception = exceptionOf(raw);
  return exception === undefined || exception === last
    ? last
    : `${exception} … ${last}`;
}

/** The line behind the frames of the last traceback: the exception, with its message's first line. */
function exceptionOf(lines: readonly string[]): string | undefined {
  const start = lines.findLastIndex((line) => TRACEBACK.test(line));
  if (start < 0) return undefined;
  return lines.slice(start + 1).find((line) => !FRAME.test(line));
}

const TRACEBACK = /^(?:\[rank\d+\]: )?Traceback \(most recent call last\):/;
const FRAME = /^(?:\[rank\d+\]: )?\s/;

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

/**
 * Checks that a program communicates as the run expects.
 * @throws GradwireError `PROGRAM_MODE`
 */
export function requireMode(
  mode: 'join' | 'observe',
  { observes, rank }: Pick<Circumstances, 'observes' | 'rank'>,
): void {
  if ((mode === 'observe') === observes) return;
  throw failure(
    'PROGRAM_MODE',
    observes
      ? 'the program joins, but the run only observes it'
      : 'the program is only observed, but the run expects it to join',
    {
      rank,
      next: observes
        ? 'Leave out --observe (workload.observe).'
        : 'Call gradwire.join() in it, or observe it: --observe (workload.observe).',
    },
  );
}
