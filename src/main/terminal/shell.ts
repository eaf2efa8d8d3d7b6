/** A shell at a terminal, wherever it runs. */
import type { Readable } from 'node:stream';
import type { TerminalEnd, TerminalSize } from '../../shared/terminal.ts';

export interface Shell {
  /** What it prints, as bytes. Paused, it holds the shell back. */
  readonly output: Readable;
  /** How it ended; never rejects. */
  readonly ended: Promise<TerminalEnd>;
  /** Resolves when the way to the shell has taken it. */
  write(text: string): Promise<void>;
  resize(size: TerminalSize): void;
  /** Hangs up: the shell and what runs in its foreground get SIGHUP. */
  close(): void;
}

/** @throws GradwireError whatever keeps it from being opened; `ABORTED` by the signal */
export type OpenShell = (
  node: string,
  size: TerminalSize,
  signal: AbortSignal,
) => Promise<Shell>;
