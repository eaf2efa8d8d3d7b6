/** A running program as its rank sees it, whoever has started it. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of its standard error. */
  readonly stderr: string;
  /** The lack for which it may have been killed, if that is known. */
  readonly reason?: string | undefined;
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
