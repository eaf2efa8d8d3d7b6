/** Notices of one rank to its run; its calls are passed on by themselves. */
import type { Notice } from '../../shared/records/notice.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { Gathered } from '../world/report-channel.ts';

export class RankNotices {
  readonly #rank: number;
  readonly #report: (report: Gathered<RunRecord>) => void;

  constructor(rank: number, report: (report: Gathered<RunRecord>) => void) {
    this.#rank = rank;
    this.#report = report;
  }

  /** A notice of this rank only. */
  readonly own = (notice: Notice): void => {
    this.#report({ type: 'notice', at: Date.now(), rank: this.#rank, ...notice });
  };

  /** A notice that is the same on all ranks: rank 0 reports it. */
  readonly ofAll = (notice: Notice): void => {
    if (this.#rank !== 0) return;
    this.#report({ type: 'notice', at: Date.now(), ...notice });
  };
}
