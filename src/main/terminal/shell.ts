/** A shell at a terminal, wherever it runs. */
import type { Readable } from 'node:stream';
import type { TerminalEnd, TerminalSize } from '../../shared/rpc/terminal.ts';

export interface Shell {
  /** The shell's output as bytes. Pausing it holds the shell back. */
  readonly output: Readable;
  /** The way it ended; never rejects. */
  readonly ended: Promise<TerminalEnd>;
  /** Resolves once the bytes have been accepted for sending. */
  write(bytes: Buffer): Promise<void>;
  resize(size: TerminalSize): void;
  /**
   * Hangs up: the shell and what runs in its foreground get SIGHUP. A shell of this computer
   * that stays all the same is killed.
   */
  close(): void;
}

/** @throws GradwireError the reason why it cannot be opened; `ABORTED` by the signal */
export type OpenShell = (
  node: string,
  size: TerminalSize,
  signal: AbortSignal,
) => Promise<Shell>;
