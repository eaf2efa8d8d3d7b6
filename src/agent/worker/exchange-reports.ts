/** Reports what an exchange returned besides its iteration's record. */
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { BucketInterval } from '../exchange/bucket-sums.ts';
import type { ExchangeResult } from '../exchange/exchange-calls.ts';
import type { Gathered } from '../world/report-channel.ts';
import type { FiniteMeasures } from './finite-measures.ts';
import type { RankNotices } from './rank-notices.ts';

interface ReportsOptions {
  readonly rank: number;
  readonly report: (report: Gathered<RunRecord>) => void;
  readonly finite: FiniteMeasures;
  readonly notices: RankNotices;
}

export class ExchangeReports {
  readonly #options: ReportsOptions;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** @param at when the iteration began, ms since 1970 */
  exchanged(
    result: ExchangeResult,
    { at, iteration }: { readonly at: number; readonly iteration: number },
  ): void {
    const { finite, notices, rank, report } = this.#options;
    const { similarities } = result.statistics;
    if (rank === 0 && similarities !== undefined) {
      report({
        type: 'similarity',
        at,
        iteration,
        buckets: finite.similarities(similarities, iteration),
      });
    }
    if (result.buckets !== undefined) {
      report({
        type: 'buckets',
        at,
        iteration,
        buckets: finite.buckets(result.buckets, iteration),
      });
    }
    this.sums(result.intervals ?? []);
    this.imbalance(result.bytes.imbalance, iteration);
    for (const notice of result.notices) notices.ofAll(notice);
  }

  /**
   * Sums of buckets over intervals.
   * @param until the iteration after the run's last: ranks exchange once more to agree that programs
   * have ended
   */
  sums(intervals: readonly BucketInterval[], until = Infinity): void {
    const { rank, report } = this.#options;
    for (const interval of intervals) {
      if (interval.from >= until) continue;
      const to = Math.min(interval.to, until);
      report({ type: 'bucket-sums', at: Date.now(), rank, ...interval, to });
    }
  }

  imbalance(bytes: number, iteration: number): void {
    if (bytes === 0) return;
    this.#options.notices.own({
      level: 'warning',
      code: 'LEDGER_UNBALANCED',
      message: `the byte ledger is off by ${bytes} bytes after iteration ${iteration}`,
    });
  }
}
