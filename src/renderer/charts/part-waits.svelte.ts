/**
 * Waits of ranks for each other in a part of a run that is no longer held one by one: its records are
 * read from the store once it has stood still for a moment. Those of the last part stay, so that zooming
 * into it reads nothing.
 */
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { StoredRun } from '../state/history/stored-run.ts';
import type { Connection } from '../state/host/host-connection.ts';
import { LatestAnswer } from '../state/plan/latest-answer.svelte.ts';
import {
  heldRecords,
  type HeldIterations,
  type Part,
  type PartReading,
} from '../state/runs/rank-waits.ts';

interface Wanted extends Part {
  readonly ranks: number;
}

/** The records of a part, or why they could not be read. */
interface Answer extends Part {
  readonly held: HeldIterations | undefined;
  readonly error: ErrorData | undefined;
}

const isSame = (one: Part, other: Part): boolean =>
  one.from === other.from && one.to === other.to;

export class PartWaits {
  readonly #connection: Connection;
  readonly #run: string;
  readonly #latest: LatestAnswer<Wanted, Answer | undefined>;
  #wanted: Wanted | undefined;
  #stored: StoredRun | undefined;

  constructor(connection: Connection, run: string) {
    this.#connection = connection;
    this.#run = run;
    this.#latest = new LatestAnswer(connection, (wanted) => this.#read(wanted));
  }

  /** Has a part read, unless it is here, and no other one any longer. */
  want(wanted: Wanted): void {
    if (this.#wanted !== undefined && isSame(this.#wanted, wanted)) return;
    this.leave();
    if (this.heldOf(wanted) !== undefined) return;
    this.#wanted = wanted;
    this.#latest.ask(wanted);
  }

  /** Ends reading, with the answer that is on its way: nothing of it is shown. */
  leave(): void {
    this.#wanted = undefined;
    this.#stored?.close();
  }

  close(): void {
    this.leave();
    this.#latest.close();
  }

  readingOf(part: Part): PartReading {
    const { answer } = this.#latest;
    if (this.heldOf(part) !== undefined) return 'read';
    const error =
      answer !== undefined && isSame(answer, part) ? answer.error : undefined;
    return error ?? 'reading';
  }

  /** The iterations of a part; undefined if it has not been read. */
  heldOf({ from, to }: Part): HeldIterations | undefined {
    const { answer } = this.#latest;
    return answer !== undefined && answer.from <= from && answer.to >= to
      ? answer.held
      : undefined;
  }

  /** Reads a part; one that is wanted no longer changes nothing. */
  async #read(wanted: Wanted): Promise<Answer | undefined> {
    const before = this.#latest.answer;
    if (this.#wanted !== wanted) return before;
    const { from, ranks, to } = wanted;
    const stored = new StoredRun(this.#connection.api, this.#run);
    this.#stored = stored;
    try {
      const records = await stored.part(wanted);
      if (this.#wanted !== wanted) return before;
      return { from, to, held: heldRecords(records, ranks, wanted), error: undefined };
    } catch (thrown) {
      if (this.#wanted !== wanted) return before;
      const error = toErrorData(thrown);
      // It is read when the connection is back.
      if (error.code === 'CONNECTION_LOST') throw thrown;
      return { from, to, held: undefined, error };
    }
  }
}
