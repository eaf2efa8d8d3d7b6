/** Reports of a run's ranks here, on their way to the journal. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import { endsJournal } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { TeamListener } from '../ranks/rank-team.ts';
import type { TeamStart } from '../ranks/team-start.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
import type { WayBack } from './guard-watch.ts';
import type { RunParts } from './run-parts.ts';
import { RunWatches } from './run-watches.ts';
import { startRecords } from './team-options.ts';

export class RankReports {
  readonly #run: RunParts;
  readonly #goBack: (way: WayBack) => RunRecord;
  readonly #watches: RunWatches;

  /**
   * @param begun when the run was created, ms since 1970
   * @param goBack switches back, because a guard has found that it must; says so
   */
  constructor(run: RunParts, begun: number, goBack: (way: WayBack) => RunRecord) {
    this.#run = run;
    this.#goBack = goBack;
    this.#watches = new RunWatches(run, begun, (record) => {
      this.#keep([record]);
    });
  }

  /** Reports that are journalled as they are. */
  get heard(): Pick<TeamListener, 'notice' | 'printed' | 'records' | 'underWay'> {
    return {
      records: (rank, records) => {
        this.#admit(rank, records);
      },
      printed: (lines) => {
        this.#keep(lines);
      },
      notice: (notice) => {
        this.store([notice]);
      },
      underWay: (rank) => this.#run.admission.underWay(rank),
    };
  }

  /**
   * All ranks are connected.
   * @param resumed the iteration from which they resume, if they do
   * @param placement their nodes, if Slurm allocates them
   */
  started(
    started: TeamStart,
    resumed: number | undefined,
    placement: RankPlacement | undefined,
  ): void {
    this.store(startRecords(this.#run.options, started, resumed));
    this.#watches.open({ ...started, resumed, placement });
  }

  /** All processes are gone. */
  ended(): void {
    this.#watches.close();
  }

  /** The first record that is not valid ends the run; those before it are kept. */
  #admit(rank: number, records: readonly unknown[]): void {
    const { admission, team } = this.#run;
    // Not recorded and so not admitted, because resuming ranks report it again.
    if (team()?.failing === true) return;
    const admitted: RunRecord[] = [];
    let refusal: ErrorData | undefined;
    try {
      for (const raw of records) {
        const record = admission.admit(rank, raw);
        if (record !== undefined) admitted.push(record);
      }
    } catch (error) {
      refusal = toErrorData(error);
    }
    this.store(admitted);
    if (refusal !== undefined) team()?.abort(refusal);
  }

  /** Journals records, unless the ranks are failing. */
  store(records: readonly RunRecord[]): void {
    const { life, outcome, switches, team } = this.#run;
    let way: WayBack | undefined;
    if (life.is('ended')) return;
    // The run ends when all of its processes have ended; its last record waits for
    // them.
    outcome.recorded(records);
    for (const record of records) {
      if (record.type === 'iteration') switches.reached(record.iteration);
      if (record.type === 'switch') switches.passed(record.epoch, record.fence);
      way = switches.guard.saw(record) ?? way;
    }
    const rest = records.filter((record) => !endsJournal(record));
    if (rest.length > 0 && team()?.failing !== true) this.#append(rest);
    if (way !== undefined) this.#append([this.#goBack(way)]);
  }

  /**
   * Journals what resuming ranks do not repeat, also while the run is failing: printed lines, or the use
   * of a machine, may give the reason.
   */
  #keep(records: readonly RunRecord[]): void {
    if (!this.#run.life.is('ended')) this.#append(records);
  }

  #append(records: readonly RunRecord[]): void {
    const error = this.#run.journal.append(records);
    if (error !== undefined) this.#run.team()?.abort(error);
  }
}
