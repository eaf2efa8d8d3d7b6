/**
 * Writes a rank's checkpoints: at a fixed interval, after a switch and when ordered, before the
 * same iteration on all ranks. A full disk costs the run only the checkpoint.
 */
import { toErrorData } from '../../shared/errors/errors.ts';
import type { WrittenCheckpoint } from '../../shared/protocol/worker.ts';
import type { Notice } from '../../shared/records/notice.ts';
import {
  checkpointFile,
  saveRank,
  type CheckpointOwner,
  type RankCheckpoint,
} from '../checkpoint/rank-checkpoint.ts';

export interface CheckpointKeeperOptions {
  readonly owner: CheckpointOwner;
  /** Directory of the run's checkpoints on this node. */
  readonly directory: string;
  /** Iterations between checkpoints; Infinity: only those that are ordered. */
  readonly every: number;
  readonly written: (checkpoint: WrittenCheckpoint) => void;
}

export class CheckpointKeeper {
  readonly #options: CheckpointKeeperOptions;
  /** The last multiple of `every` reached, so that a delayed checkpoint stays due. */
  #reached: number;
  /** The next checkpoint is due from this iteration on. */
  #expected = Infinity;

  /** @param from the first iteration */
  constructor(options: CheckpointKeeperOptions, from: number) {
    this.#options = options;
    this.#reached = Math.floor(from / options.every);
  }

  /** Whether a checkpoint is due before this iteration. */
  isDue(iteration: number): boolean {
    if (iteration >= this.#expected) return true;
    return Math.floor(iteration / this.#options.every) > this.#reached;
  }

  /** Makes a checkpoint due before this iteration, or at the first later one where it is possible. */
  expect(iteration: number): void {
    this.#expected = Math.min(this.#expected, iteration);
  }

  /**
   * Makes a checkpoint due before this iteration because of a switch, unless checkpoints are
   * written only when ordered.
   */
  expectAfterSwitch(iteration: number): void {
    if (this.#options.every !== Infinity) this.expect(iteration);
  }

  /** @returns a notice if the checkpoint could not be written */
  async keep(
    iteration: number,
    take: () => Promise<RankCheckpoint>,
  ): Promise<Notice | undefined> {
    const { owner, directory, every, written } = this.#options;
    this.#reached = Math.floor(iteration / every);
    if (iteration >= this.#expected) this.#expected = Infinity;
    const start = performance.now();
    const file = checkpointFile(directory, iteration, owner.rank);
    const checkpoint = await take();
    try {
      const bytes = await saveRank(file, owner, checkpoint);
      written({ iteration, bytes, wall: performance.now() - start });
      return undefined;
    } catch (error) {
      const { code, message, next } = toErrorData(error);
      if (code !== 'CHECKPOINT_WRITE_FAILED') throw error;
      return { level: 'warning', code, message: `${message}. ${next ?? ''}`.trim() };
    }
  }
}
