/** The comparisons of applied gradients with uncompressed ones that a spec asks for. */
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { Gathered } from '../world/report-channel.ts';
import type { RankNotices } from './rank-notices.ts';
import type { GradientComparison } from './steps/gradient-comparison.ts';
import { isDue, type Steps } from './steps/steps.ts';

interface ComparisonsOptions {
  readonly rank: number;
  /** Iterations from one comparison to the next; default: there are none. */
  readonly compareEvery: number | undefined;
  readonly comparison: GradientComparison;
  readonly steps: Steps;
  readonly notices: RankNotices;
  readonly report: (report: Gathered<RunRecord>) => void;
}

export class DueComparisons {
  readonly #options: ComparisonsOptions;
  /** Whether a notice has said that comparisons cannot be made. */
  #isRefused = false;

  constructor(options: ComparisonsOptions) {
    this.#options = options;
  }

  /**
   * Whether this iteration's exchange is due to be compared, and can be.
   * @param replaced tensors whose momentum the method applies
   */
  isDueIn(iteration: number, replaced: ReadonlySet<string>): boolean {
    const { compareEvery, notices, steps } = this.#options;
    const since = steps.since(iteration);
    if (!steps.exchangesIn(iteration)) return false;
    if (!isDue(compareEvery, { since, iteration })) return false;
    if (steps.exchanged !== undefined && replaced.size === 0) return true;
    if (!this.#isRefused) {
      this.#isRefused = true;
      notices.ofAll({
        level: 'warning',
        code: 'COMPARISON_SKIPPED',
        message:
          replaced.size > 0
            ? 'the applied gradient includes momentum, so it cannot be compared with the uncompressed one'
            : 'the gradient stays on the GPU and is not compared; set engine: thread to read it back',
      });
    }
    return false;
  }

  /**
   * Compares on all ranks together, and reports the difference.
   * @param bound of the expected squared error of what a rank sends, if theory has one
   */
  async report(iteration: number, bound: number | undefined): Promise<void> {
    const { comparison, rank, report, steps } = this.#options;
    const difference = await comparison.difference(steps.exchanged!, bound);
    if (rank !== 0) return;
    report({
      type: 'comparison',
      at: Date.now(),
      iteration,
      ...difference,
      ...comparison.magnitudes(steps.exchanged!),
    });
  }
}
