/**
 * The rows of the table of iterations: one per rank and iteration. An evaluation is in the row of
 * rank 0; if there is none, it has a row of its own.
 */
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { ExportTable } from './export-table.ts';
import { iterationColumns, type IterationRow } from './iteration-columns.ts';
import { iterationPieces, logPages, type RunReader } from './run-reader.ts';

/** The table of iterations, with what the test set gave after each. */
export const iterationTable: ExportTable<IterationRow> = {
  columns: iterationColumns,
  async *pages(reader, { id, iterations }) {
    const evaluations = new EvaluationQueue(reader, id);
    for await (const records of iterationPieces(reader, id)) {
      const last = records.at(-1);
      if (last === undefined) continue;
      const waiting = await evaluations.until(last.iteration);
      yield {
        rows: iterationRows(records, waiting),
        done: Math.min(1, last.iteration / Math.max(1, iterations)),
      };
    }
    yield { rows: iterationRows([], await evaluations.rest()), done: 1 };
  },
};

/** @param evaluations by iteration: those of these records, and of iterations without one */
export function iterationRows(
  records: readonly IterationRecord[],
  evaluations: readonly EvaluationRecord[],
): readonly IterationRow[] {
  const rows: IterationRow[] = [];
  const waiting = [...evaluations];
  for (const record of records) {
    while (waiting.length > 0 && waiting[0]!.iteration < record.iteration) {
      rows.push({ evaluation: waiting.shift() });
    }
    const isIts = record.rank === 0 && waiting[0]?.iteration === record.iteration;
    rows.push({ record, evaluation: isIts ? waiting.shift() : undefined });
  }
  return [...rows, ...waiting.map((evaluation) => ({ evaluation }))];
}

/** Evaluations in the order of their iterations, read from the log as they are needed. */
class EvaluationQueue {
  readonly #pages: ReturnType<typeof logPages>;
  #waiting: readonly EvaluationRecord[] = [];
  #hasEnded = false;

  constructor(reader: RunReader, run: string) {
    this.#pages = logPages(reader, run);
  }

  /** Takes those of iterations up to one. Its rank 0 has been read: it is the first one. */
  async until(iteration: number): Promise<readonly EvaluationRecord[]> {
    while (!this.#hasEnded && (this.#waiting.at(-1)?.iteration ?? -1) <= iteration) {
      await this.#read();
    }
    const count = this.#waiting.filter((each) => each.iteration <= iteration).length;
    const taken = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return taken;
  }

  /** Takes all that are left. */
  async rest(): Promise<readonly EvaluationRecord[]> {
    while (!this.#hasEnded) await this.#read();
    return this.#waiting;
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#pages.next();
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    this.#waiting = [
      ...this.#waiting,
      ...value.flatMap(({ record }) => (record.type === 'evaluation' ? [record] : [])),
    ];
  }
}
