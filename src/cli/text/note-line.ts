/** A note in a terminal: `note 3, iteration 120: the loss jumps`. */
import type { RunNote } from '../../shared/run-query/run-note.ts';

export function noteLine({ id, iteration, text }: RunNote): string {
  const where = iteration === undefined ? '' : `, iteration ${iteration}`;
  return `note ${id}${where}: ${text.replaceAll('\n', '\n  ')}`;
}
