/**
 * The line by which a supervisor tells the process that started it, over file descriptor 3, why it
 * does not start, as JSON. If it listens, it closes the descriptor without a word.
 */
import { closeSync, writeSync } from 'node:fs';
import type { ErrorData } from '../../../shared/errors/errors.ts';

const DESCRIPTOR = 3;

/** @param error undefined: it listens */
export function tellStarter(error?: ErrorData): void {
  try {
    if (error !== undefined) writeSync(DESCRIPTOR, `${JSON.stringify(error)}\n`);
    closeSync(DESCRIPTOR);
  } catch {
    // Nobody reads it any more; the log has it too.
  }
}
