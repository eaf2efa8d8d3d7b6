/**
 * The checkpoints of a run on this node: a folder for each iteration, with a file for each
 * rank that runs here. A checkpoint counts when all files exist. The newest two stay, because
 * one node may be a checkpoint ahead of another.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { WrittenCheckpoint } from '../../../shared/protocol/worker.ts';
import type { CheckpointRecord } from '../../../shared/records/checkpoint.ts';
import { checkpointFile } from '../../checkpoint/rank-checkpoint.ts';
import type { RecordAdmission } from '../journal/record-admission.ts';

const KEPT = 2;

export class RunCheckpoints {
  readonly directory: string;
  readonly #ranks: readonly number[];
  readonly #node: string;
  /** Iterations, ascending. */
  #whole: number[];
  /** Files written so far of incomplete checkpoints, by iteration, then by rank. */
  readonly #written = new Map<number, Map<number, WrittenCheckpoint>>();

  constructor(directory: string, ranks: readonly number[], node: string) {
    this.directory = directory;
    this.#ranks = ranks;
    this.#node = node;
    this.#whole = this.#find();
  }

  /**
   * Iterations from which the ranks here can resume, ascending; includes the start. All
   * iterations before must be recorded: a rank may have written a checkpoint and died with its
   * last records unsent.
   */
  resumable(recorded: RecordAdmission): readonly number[] {
    const upTo = recorded.recordedUpTo(this.#ranks);
    return [0, ...this.#whole].filter((iteration) => iteration <= upTo);
  }

  /** Notes that a rank has written its file. @returns the record once all have */
  add(rank: number, written: WrittenCheckpoint): CheckpointRecord | undefined {
    const { iteration } = written;
    this.#leaveOut(iteration);
    const ranks = this.#written.get(iteration) ?? new Map<number, WrittenCheckpoint>();
    this.#written.set(iteration, ranks.set(rank, written));
    if (ranks.size < this.#ranks.length) return undefined;
    this.#written.delete(iteration);
    const known = this.#whole.includes(iteration);
    this.#whole = [...new Set([...this.#whole, iteration])].toSorted((a, b) => a - b);
    for (const old of this.#whole.splice(0, Math.max(0, this.#whole.length - KEPT))) {
      this.#remove(old);
    }
    if (known) return undefined;
    const all = [...ranks.values()];
    return {
      type: 'checkpoint',
      at: Date.now(),
      node: this.#node,
      iteration,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      wall: Math.max(...all.map(({ wall }) => wall)),
    };
  }

  /** Drops an unreadable one: the run resumes from the one before. */
  discard(iteration: number): void {
    this.#whole = this.#whole.filter((other) => other !== iteration);
    this.#remove(iteration);
  }

  /** Drops those after the iteration from which all ranks resume, who write them again. */
  returnTo(iteration: number): void {
    for (const later of this.#whole.filter((other) => other > iteration)) {
      this.discard(later);
    }
  }

  /** Incomplete checkpoints of the lost ranks are ignored. */
  forgetUnfinished(): void {
    this.#leaveOut(Infinity);
  }

  /** An earlier checkpoint that some rank could not write will never be complete. */
  #leaveOut(before: number): void {
    for (const iteration of this.#written.keys()) {
      if (iteration >= before) continue;
      this.#written.delete(iteration);
      this.discard(iteration);
    }
  }

  #find(): number[] {
    if (!existsSync(this.directory)) return [];
    return readdirSync(this.directory)
      .map(Number)
      .filter((iteration) => Number.isSafeInteger(iteration) && iteration > 0)
      .filter((iteration) =>
        this.#ranks.every((rank) =>
          existsSync(checkpointFile(this.directory, iteration, rank)),
        ),
      )
      .toSorted((a, b) => a - b);
  }

  #remove(iteration: number): void {
    rmSync(path.join(this.directory, String(iteration)), {
      recursive: true,
      force: true,
    });
  }
}
