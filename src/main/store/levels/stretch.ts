/**
 * A stretch of a run's records as bins of the first level: over all ranks, and of each rank.
 * Adding a record is O(fields).
 */
import { FIELD_COUNT, writeRow } from '../../../shared/records/chart-fields.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { BinRows } from './bin-rows.ts';
import { ALL_RANKS, levelWidth, partOf } from './level-shape.ts';

export class Stretch {
  /** Bins by part. */
  readonly parts = new Map<number, BinRows>();
  readonly #ranks: number;
  readonly #row = new Float64Array(FIELD_COUNT);

  /** @param ranks of the run */
  constructor(ranks: number) {
    this.#ranks = ranks;
  }

  add(record: IterationRecord): void {
    const { iteration, rank } = record;
    writeRow(record, this.#row);
    this.#part(ALL_RANKS).addRow(iteration, 0, this.#row);
    const part = partOf(rank, this.#ranks);
    if (part !== ALL_RANKS) this.#part(part).addRow(iteration, rank, this.#row);
  }

  #part(part: number): BinRows {
    let bins = this.parts.get(part);
    if (bins === undefined) {
      bins = new BinRows(levelWidth(part, 0, this.#ranks));
      this.parts.set(part, bins);
    }
    return bins;
  }
}
