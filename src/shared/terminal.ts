/**
 * Terminals: a shell on a machine, shown in a page. A page names its terminals by numbers of
 * its own; they end with the page. Nothing that is typed or shown is logged or stored.
 */
import { z } from 'zod';
import type { ErrorData } from './errors.ts';

export const terminalSizeSchema = z.strictObject({
  columns: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
});

/** In characters. */
export type TerminalSize = z.infer<typeof terminalSizeSchema>;

/** Characters of one call of `writeTerminal`. */
export const MOST_TYPED = 65_536;

export type TerminalEnd =
  | {
      readonly reason: 'exited';
      /** Null where a signal ended the shell, or nobody said. */
      readonly code: number | null;
      /** `SIGHUP`, … */
      readonly signal: string | null;
    }
  /** Before the shell's exit was told. */
  | { readonly reason: 'lost'; readonly error: ErrorData };

/** What a page may ask of its own terminals. */
export interface TerminalApi {
  /**
   * A login shell on a machine; connects where there is no connection, and may ask for what
   * that takes. Output may come before the answer.
   * @param terminal a number that no other terminal of the page has
   */
  openTerminal(terminal: number, node: string, size: TerminalSize): Promise<void>;
  /** Answers when the way to the shell has taken it. */
  writeTerminal(terminal: number, text: string): Promise<void>;
  resizeTerminal(terminal: number, size: TerminalSize): Promise<void>;
  /** Ends the shell, or the attempt to open it. Nothing comes of it any more. */
  closeTerminal(terminal: number): Promise<void>;
}

/** What a page is told of its terminals, in order. */
export interface TerminalEvents {
  /** Answered when it has been taken in: more is sent only as far as answers have come. */
  terminalOutput(terminal: number, text: string): void | Promise<void>;
  /** The last one of a terminal; not after `closeTerminal`. */
  terminalEnded(terminal: number, end: TerminalEnd): void | Promise<void>;
}
