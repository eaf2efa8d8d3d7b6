/** Notes that users write on a run, and the title that they give it in place of its spec's name. */
import { inputError } from '../errors/errors.ts';
import {
  isPrintable,
  lengthOf,
  PRINTABLE_RULE,
  shownValue,
} from '../words/printable.ts';

const LONGEST_TITLE = 120;
export const LONGEST_NOTE = 2000;
/** Most notes of a run. */
export const MOST_NOTES = 200;

/** A note on a run, or on one of its iterations. */
export interface RunNote {
  readonly id: number;
  readonly text: string;
  /** The iteration that it is pinned to; default: the whole run. */
  readonly iteration?: number | undefined;
  /** When it was written or last changed. */
  readonly writtenAt: number;
}

/** A note to be written: a new one, or in place of the one with this id. */
export interface NoteDraft {
  readonly id?: number | undefined;
  readonly text: string;
  readonly iteration?: number | undefined;
}

/**
 * A note's text as it is stored. It may have several lines.
 * @throws GradwireError `NOTE_INVALID`
 */
export function readNote(text: string): string {
  const note = text.replace(/\r\n?/g, '\n').trim();
  const isShown = note
    .split('\n')
    .every((line) => isPrintable(line.replace(/\t/g, ' ')));
  if (note.length > 0 && lengthOf(note) <= LONGEST_NOTE && isShown) return note;
  throw inputError('NOTE_INVALID', `${shownValue(text)} is no note`, {
    next: `A note has 1 to ${LONGEST_NOTE} characters; ${PRINTABLE_RULE}.`,
  });
}

/**
 * A title as it is stored.
 * @throws GradwireError `TITLE_INVALID`
 */
export function readTitle(text: string): string {
  const title = text.trim();
  if (title.length > 0 && lengthOf(title) <= LONGEST_TITLE && isPrintable(title)) {
    return title;
  }
  throw inputError('TITLE_INVALID', `${shownValue(text)} is no title of a run`, {
    next: `A title has 1 to ${LONGEST_TITLE} characters; ${PRINTABLE_RULE}.`,
  });
}
