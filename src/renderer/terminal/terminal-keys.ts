/**
 * Keys that a terminal handles before the shell gets them. Ctrl+C belongs to the shell, so
 * copying takes Shift as well; pasting is the browser's own.
 */

export type KeyAction =
  /** Sent to the shell. */
  | 'shell'
  /** Left to the browser or the page. */
  | 'page'
  | 'copy'
  /** Moves the focus out of the terminal, where Tab works for the page again. */
  | 'leave';

export interface TerminalKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

export function keyAction(stroke: TerminalKey): KeyAction {
  const { ctrlKey, shiftKey, altKey, metaKey } = stroke;
  if (!ctrlKey || !shiftKey || altKey || metaKey) return 'shell';
  switch (stroke.key.toLowerCase()) {
    case 'c':
      return 'copy';
    case 'v':
    case 'p':
      return 'page';
    case 'arrowup':
      return 'leave';
    default:
      return 'shell';
  }
}
