/**
 * Terminals: a shell on a machine, shown in a page. A page numbers its terminals itself; they
 * end with the page. Nothing that is typed or shown is logged or stored.
 */
import { z } from 'zod';
import type { ErrorData } from '../errors/errors.ts';

export const terminalSizeSchema = z.strictObject({
  columns: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
});

/** A terminal's size in characters. */
export type TerminalSize = z.infer<typeof terminalSizeSchema>;

/** Most characters per call of `writeTerminal`. */
export const MOST_TYPED = 65_536;

/**
 * Binary input as text that `writeTerminal` takes, such as positions of the mouse in an old
 * protocol: each byte that is no ASCII becomes half of a character, which no text has alone
 * (Python's "surrogateescape").
 * @param bytes a character for each byte, U+0000 to U+00FF
 */
export function escapedBytes(bytes: string): string {
  return bytes.replace(/[\u0080-\u00ff]/g, (byte) =>
    String.fromCharCode(0xdc00 + byte.charCodeAt(0)),
  );
}

export type TerminalEnd =
  | {
      readonly reason: 'exited';
      /** Null if a signal ended the shell, or the status is unknown. */
      readonly code: number | null;
      /** `SIGHUP`, … */
      readonly signal: string | null;
    }
  /** The connection was lost before the shell's exit was reported. */
  | { readonly reason: 'lost'; readonly error: ErrorData };

/** A page's calls about its own terminals. */
export interface TerminalApi {
  /**
   * Opens a login shell on a machine, connecting first if needed, which may ask the user for
   * secrets. Output may come before the answer.
   * @param terminal a number that no other terminal of the page has
   */
  openTerminal(terminal: number, node: string, size: TerminalSize): Promise<void>;
  /** Answers when the text has been accepted for sending. Bytes in it: `escapedBytes`. */
  writeTerminal(terminal: number, text: string): Promise<void>;
  resizeTerminal(terminal: number, size: TerminalSize): Promise<void>;
  /** Ends the shell, or the attempt to open it. No more output follows. */
  closeTerminal(terminal: number): Promise<void>;
}

/** Pushes to a page about its terminals, in order. */
export interface TerminalEvents {
  /** Answered when the page has processed it: the answers are the flow control. */
  terminalOutput(terminal: number, text: string): void | Promise<void>;
  /** The last push about a terminal; omitted after `closeTerminal`. */
  terminalEnded(terminal: number, end: TerminalEnd): void | Promise<void>;
}
