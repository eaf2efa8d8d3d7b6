/**
 * Measures of a run that its ranks take together between two exchanges, and averages of
 * weights. Their bytes do not count for the next exchange, unless they are part of training.
 */
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { RankScores } from '../collectives/rank-pairs.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';
import type { ByteLedger } from '../profile/byte-ledger.ts';
import type { ExchangeProfile, PhaseClock } from '../profile/phase-clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { CollectiveGroup } from './collective-group.ts';
import type { SummaryScope } from './exchange-calls.ts';
import { GROUP_SUMMARY_STREAM, SUMMARY_STREAM, WEIGHTS_STREAM } from './streams.ts';

interface MeasuresOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  readonly transport: Pick<Transport, 'counters'>;
  readonly ledger: ByteLedger;
  /** Ranks with the same tensors. */
  readonly group: CollectiveGroup;
  /** All ranks. */
  readonly world: CollectiveGroup;
}

export class RunMeasures {
  readonly #options: MeasuresOptions;

  constructor(options: MeasuresOptions) {
    this.#options = options;
  }

  /**
   * The average over ranks of a vector in the arena, in place, by a dense collective.
   * @param measures whether it only measures and is not part of training, so that its bytes
   * do not count for the next exchange
   */
  async average(vector: Vector, measures = false): Promise<ExchangeProfile> {
    const { clock } = this.#options;
    const { log } = clock;
    // What only measures is no part of an iteration, so that no trace tells of it.
    if (measures) clock.log = undefined;
    try {
      clock.begin();
      const work = () => this.#options.group.average(WEIGHTS_STREAM, vector);
      await (measures ? this.#aside(work) : work());
      return clock.end();
    } finally {
      clock.log = log;
    }
  }

  /**
   * Measures how far the replicas have drifted apart: max over ranks of ‖wᵢ − w̄‖ / ‖w̄‖ (0 if all
   * weights are 0). Does not change the vector.
   */
  async divergence(weights: Vector): Promise<number> {
    const { arena, kernels } = this.#options;
    const mean = arena.allocateVector(weights.length);
    try {
      kernels.copy(mean, weights);
      await this.#aside(() => this.#options.group.average(WEIGHTS_STREAM, mean));
      const norm = Math.sqrt(kernels.squaredNorm(mean));
      const distance = Math.sqrt(kernels.squaredDistance(weights, mean));
      const [largest] = await this.summarize(
        [norm === 0 ? 0 : distance / norm],
        ['max'],
      );
      return largest!;
    } finally {
      arena.release(mean);
    }
  }

  /**
   * Elementwise sum, minimum or maximum of a few numbers over ranks: measures of the run.
   * @param among all ranks, or those with the same tensors
   */
  summarize(
    values: readonly number[],
    operations: readonly SmallOperation[],
    among: SummaryScope = 'world',
  ): Promise<readonly number[]> {
    return this.#aside(() =>
      among === 'world'
        ? this.#options.world.summarize(SUMMARY_STREAM, values, operations)
        : this.#options.group.summarize(GROUP_SUMMARY_STREAM, values, operations),
    );
  }

  /** Counts pairs over all ranks, as a measure of the run (`CollectiveGroup.countPairs`). */
  countPairs(scores: RankScores): Promise<number> {
    return this.#aside(() => this.#options.world.countPairs(SUMMARY_STREAM, scores));
  }

  /** Does work between two exchanges, apart from both. */
  async #aside<T>(work: () => Promise<T>): Promise<T> {
    const end = this.setAside();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /**
   * Messages sent during this work only measure the run. To be called between two
   * exchanges.
   */
  setAside(): () => void {
    const { ledger, transport } = this.#options;
    const end = ledger.setAside({ ...transport.counters });
    return () => {
      end(transport.counters);
    };
  }
}
