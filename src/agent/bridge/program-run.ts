/** A running program as its rank sees it, whoever has started it. */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';

/** Time for a program that has closed its socket, or says that it ends, to end and so to say why. */
export const EXIT_MS = 2000;
/** The same of a launcher, which first ends the programs of other ranks. */
export const LAUNCHER_EXIT_MS = 15_000;

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of its standard error. */
  readonly stderr: string;
  /** The lack for which it may have been killed, if that is known. */
  readonly reason?: string | undefined;
}

/** Signals by which the system ends a process for a fault of its own. */
const CRASHES: readonly string[] = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'];
/** A shell's exit code for a command that a signal has ended, without the signal's number. */
const BY_SIGNAL = 128;

/** The signal of the fault that ended a program, of itself or of the shell that it ran in. */
export function crashOf({ code, signal }: ProgramExit): string | undefined {
  const number = (code ?? 0) - BY_SIGNAL;
  return CRASHES.find(
    (name) => name === signal || constants.signals[name as NodeJS.Signals] === number,
  );
}

export interface ProgramRun {
  /** Resolves when the program has ended. @throws (rejects) if it could not be started */
  readonly exit: Promise<ProgramExit>;
  /** Lets the program begin: its bridge is there. */
  begin(): void;
  /** Sends a signal to all its processes. */
  signal(signal: NodeJS.Signals): void;
  /** Takes notice that its connection has closed, and nothing more is expected of it. */
  unlinked(): void;
}

/** Resolves when a program has ended; one that takes longer than it may is ended. */
export async function endWithin(
  program: ProgramRun,
  patienceMs: number | undefined,
): Promise<void> {
  const timers = new AbortController();
  const { signal } = timers;
  const patience = async (ms: number, then: NodeJS.Signals): Promise<void> => {
    await sleep(ms, undefined, { signal });
    program.signal(then);
  };
  if (patienceMs !== undefined) {
    patience(patienceMs, 'SIGTERM')
      .then(() => patience(patienceMs, 'SIGKILL'))
      .catch(awaitedElsewhere);
  }
  try {
    await program.exit;
  } finally {
    timers.abort();
  }
}
