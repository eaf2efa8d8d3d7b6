/**
 * Titles, tags and notes that users write on runs. Any run may have them, also one in progress or
 * a deleted one; they are purged with it. Each change numbers its runs anew (`annotated`), so that
 * every process and page finds what it has not seen.
 */
import type Database from 'better-sqlite3';
import { inputError } from '../../shared/errors/errors.ts';
import {
  MOST_NOTES,
  readNote,
  readTitle,
  type NoteDraft,
  type RunNote,
} from '../../shared/run-query/run-note.ts';
import { MOST_TAGS, readTag } from './run-tag.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { lastingNumber } from './lasting-number.ts';
import type { RunRow } from './run-row.ts';
import type { RunRows } from './run-rows.ts';

interface NoteRow {
  readonly id: number;
  readonly iteration: number | null;
  readonly text: string;
  readonly written_at: number;
}

export class Annotations {
  readonly #database: GuardedDatabase;
  readonly #rows: RunRows;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(guarded: GuardedDatabase, database: Database.Database, rows: RunRows) {
    this.#database = guarded;
    this.#rows = rows;
    this.#statements = prepare(database);
  }

  /**
   * Gives runs a tag, or takes it from them: all or none.
   * @returns the runs that have changed; giving them back makes it undone
   * @throws GradwireError `TAG_INVALID`, `TAGS_TOO_MANY`, `RUN_UNKNOWN`
   */
  tag(runs: readonly string[], text: string, isTagged: boolean): readonly string[] {
    const tag = readTag(text);
    return this.#database.write(() =>
      [...new Set(runs)].filter((id) => {
        const { number } = this.#rows.row(id);
        const { changes } = isTagged
          ? this.#statements.addTag.run(number, tag)
          : this.#statements.removeTag.run(number, tag);
        if (changes === 0) return false;
        if (this.#statements.countTags.get(number)!.count > MOST_TAGS) {
          throw inputError('TAGS_TOO_MANY', `run ${id} already has ${MOST_TAGS} tags`, {
            next: 'Take one of them away first.',
          });
        }
        this.#touch(number);
        return true;
      }),
    );
  }

  /**
   * Gives a run a title, or back the name of its spec.
   * @throws GradwireError `TITLE_INVALID`, `RUN_UNKNOWN`
   */
  rename(run: string, text: string | undefined): void {
    const title = text === undefined ? null : readTitle(text);
    this.#database.write(() => {
      const { name, number } = this.#rows.row(run);
      this.#statements.setTitle.run(title === name ? null : title, number);
      this.#touch(number);
    });
  }

  /** Returns a run's notes: those on the whole run first, then by iteration. */
  notes(run: string): readonly RunNote[] {
    return this.#database.guard(() =>
      this.#statements.notes.all(this.#rows.row(run).number).map(noteOf),
    );
  }

  /**
   * Writes a note, or changes the one with the draft's id.
   * @throws GradwireError `NOTE_INVALID`, `NOTES_TOO_MANY`, `NOTE_UNKNOWN`, `RUN_UNKNOWN`
   */
  writeNote(run: string, { id, iteration, text }: NoteDraft): RunNote {
    const note = readNote(text);
    return this.#database.write(() => {
      const row = this.#rows.row(run);
      const { number } = row;
      if (iteration !== undefined) requireIteration(row, iteration);
      const values = { run: number, iteration: iteration ?? null, text: note };
      const writtenAt = Date.now();
      if (
        id === undefined &&
        this.#statements.countNotes.get(number)!.count >= MOST_NOTES
      ) {
        throw inputError(
          'NOTES_TOO_MANY',
          `run ${run} already has ${MOST_NOTES} notes`,
          {
            next: 'Remove one of them first.',
          },
        );
      }
      const written =
        id === undefined
          ? this.#statements.addNote.get({
              ...values,
              at: writtenAt,
              id: this.#statements.nextNote(),
            })
          : this.#statements.setNote.get({ ...values, at: writtenAt, id });
      if (written === undefined) throw unknownNote(run, id!);
      this.#touch(number);
      return noteOf(written);
    });
  }

  /**
   * Removes a note.
   * @returns what it was; writing it again makes it undone
   * @throws GradwireError `NOTE_UNKNOWN`, `RUN_UNKNOWN`
   */
  removeNote(run: string, id: number): RunNote {
    return this.#database.write(() => {
      const { number } = this.#rows.row(run);
      const removed = this.#statements.removeNote.get(number, id);
      if (removed === undefined) throw unknownNote(run, id);
      this.#touch(number);
      return noteOf(removed);
    });
  }

  /** Gives a run the next change number. Belongs into a transaction. */
  #touch(run: number): void {
    this.#statements.touch.run(this.#statements.nextChange(), run);
  }

  /** Number of the last change. */
  latest(): number {
    return this.#database.guard(() => this.#statements.latest.get()!.latest);
  }

  /** Ids of runs that have changed after the change of this number. */
  changedAfter(change: number): readonly string[] {
    return this.#database.guard(() =>
      this.#statements.changedAfter.all(change).map(({ id }) => id),
    );
  }
}

/** @throws GradwireError `NOTE_INVALID`: the run has no such iteration, and will have none */
function requireIteration(
  { id, iterations, iterations_planned, state }: RunRow,
  iteration: number,
): void {
  const planned = iterations_planned - 1;
  // One that ends early may have records of ranks that were further than others.
  const last = hasEnded(state) ? Math.min(iterations, planned) : planned;
  if (iteration <= last) return;
  throw inputError('NOTE_INVALID', `run ${id} has no iteration ${iteration}`, {
    next:
      last < 0
        ? 'Write a note on the whole run.'
        : `Give one from 0 to ${last}, or write a note on the whole run.`,
  });
}

const unknownNote = (run: string, id: number): Error =>
  inputError('NOTE_UNKNOWN', `run ${run} has no note ${id}`, {
    next: `List its notes: gradwire runs show ${run}.`,
  });

const noteOf = ({ id, iteration, text, written_at }: NoteRow): RunNote =>
  iteration === null
    ? { id, text, writtenAt: written_at }
    : { id, text, iteration, writtenAt: written_at };

function prepare(database: Database.Database) {
  const NOTE = 'id, iteration, text, written_at';
  return {
    addTag: database.prepare<[number, string]>(
      'INSERT OR IGNORE INTO run_tags (run, tag) VALUES (?, ?)',
    ),
    removeTag: database.prepare<[number, string]>(
      'DELETE FROM run_tags WHERE run = ? AND tag = ?',
    ),
    countTags: database.prepare<[number], { count: number }>(
      'SELECT count(*) AS count FROM run_tags WHERE run = ?',
    ),
    setTitle: database.prepare<[string | null, number]>(
      'UPDATE runs SET title = ? WHERE number = ?',
    ),
    notes: database.prepare<[number], NoteRow>(
      `SELECT ${NOTE} FROM run_notes WHERE run = ?
        ORDER BY iteration IS NOT NULL, iteration, id`,
    ),
    countNotes: database.prepare<[number], { count: number }>(
      'SELECT count(*) AS count FROM run_notes WHERE run = ?',
    ),
    nextNote: lastingNumber(database, 'run_notes'),
    addNote: database.prepare<
      [{ run: number; iteration: number | null; text: string; at: number; id: number }],
      NoteRow
    >(`
      INSERT INTO run_notes (id, run, iteration, text, written_at)
      VALUES (@id, @run, @iteration, @text, @at) RETURNING ${NOTE}`),
    setNote: database.prepare<
      [{ run: number; iteration: number | null; text: string; at: number; id: number }],
      NoteRow
    >(`
      UPDATE run_notes SET iteration = @iteration, text = @text, written_at = @at
      WHERE run = @run AND id = @id RETURNING ${NOTE}`),
    removeNote: database.prepare<[number, number], NoteRow>(
      `DELETE FROM run_notes WHERE run = ? AND id = ? RETURNING ${NOTE}`,
    ),
    nextChange: lastingNumber(database, 'annotations'),
    touch: database.prepare<[number, number]>(
      'UPDATE runs SET annotated = ? WHERE number = ?',
    ),
    latest: database.prepare<[], { latest: number }>(`
      SELECT max(
        coalesce((SELECT max(annotated) FROM runs), 0),
        coalesce((SELECT number FROM last_numbers WHERE name = 'annotations'), 0)
      ) AS latest`),
    changedAfter: database.prepare<[number], { id: string }>(
      'SELECT id FROM runs WHERE annotated > ? AND deleted < 2',
    ),
  };
}
