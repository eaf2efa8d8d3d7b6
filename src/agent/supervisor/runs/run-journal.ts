/**
 * A run's way into its journal, and to its followers: reports of its ranks here are checked,
 * written, and passed on once the disk has them. What an app has seen must not be gone after a
 * power cut, or a run that resumes would give the same numbers to other records, which the app
 * takes for known. One request to the disk covers all entries that wait, at most ten a second,
 * whatever a run records.
 * Upholds invariant I10 (docs/architecture.md).
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import {
  endsJournal,
  type JournalEntry,
} from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
import type { Journal } from '../journal/journal.ts';
import type { TeamListener } from '../ranks/rank-team.ts';
import type { TeamStart } from '../ranks/team-start.ts';
import type { WayBack } from './guard-watch.ts';
import type { RunListener } from './run-options.ts';
import type { RunParts } from './run-parts.ts';
import { RunWatches } from './run-watches.ts';
import { startRecords } from './team-options.ts';

/** Time between the beginnings of two requests to the disk. */
const PAUSE_MS = 100;

interface RunJournalOptions {
  /** When the run was created, ms since 1970. */
  readonly begun: number;
  /** Switches back, because a guard has found that it must; says so. */
  readonly goBack: (way: WayBack) => RunRecord;
  /** Told that entries cannot be written. */
  readonly failed: (error: ErrorData) => void;
}

export class RunJournal {
  readonly #run: RunParts;
  readonly #journal: Journal;
  readonly #goBack: (way: WayBack) => RunRecord;
  readonly #watches: RunWatches;
  readonly #feed: DurableFeed;
  readonly #listeners = new Set<RunListener>();

  constructor(run: RunParts, { begun, failed, goBack }: RunJournalOptions) {
    const { journal } = run.options;
    this.#run = run;
    this.#journal = journal;
    this.#goBack = goBack;
    this.#watches = new RunWatches(run, begun, (record) => {
      this.#keep([record]);
    });
    this.#feed = new DurableFeed({
      sync: () => journal.sync(),
      pass: (entries) => {
        for (const listener of this.#listeners) listener.entries(entries);
      },
      failed: (error) => {
        failed(toErrorData(error));
      },
    });
  }

  follow(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    const { life, model, outcome, switches, team, untold } = this.#run;
    let way: WayBack | undefined;
    if (life.is('ended')) return;
    // The run ends when all of its processes have ended; its last record waits for
    // them.
    outcome.recorded(records);
    model.recorded(records);
    for (const record of records) {
      if (record.type === 'iteration') {
        switches.reached(record.iteration);
        untold.saw(record);
      }
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
    try {
      this.#feed.push(this.#journal.append(records));
    } catch (error) {
      this.#run.team()?.abort(toErrorData(error));
    }
  }

  /** Appends the last record and closes the journal; followers get it even if it cannot be written. */
  appendLast(last: RunRecord): void {
    try {
      this.#feed.push(this.#journal.append([last]));
      this.#journal.close();
      this.#feed.flush();
    } catch (cause) {
      const unwritten: RunRecord =
        last.type === 'failed'
          ? last
          : { type: 'failed', at: Date.now(), error: toErrorData(cause) };
      this.#feed.push([this.#journal.appendUnwritten(unwritten)]);
      this.#feed.flush();
    }
  }

  /** Tells followers that the run's state has changed, after the records that say so. */
  changed(): void {
    this.#feed.after(() => {
      for (const listener of this.#listeners) listener.changed();
    });
  }
}

export interface DurableFeedOptions {
  /** Resolves when the disk has everything that was pushed before. */
  sync(): Promise<void>;
  pass(entries: readonly JournalEntry[]): void;
  /** The disk refused; what waits is passed on when the run ends. */
  failed(error: unknown): void;
}

/** Entries, or what may happen once those before have been passed on. */
type Waiting = readonly JournalEntry[] | (() => void);

/** Entries on their way to the disk, and then to whoever follows. */
export class DurableFeed {
  readonly #options: DurableFeedOptions;
  #waiting: Waiting[] = [];
  #syncing = false;
  #failed = false;
  #timer: NodeJS.Timeout | undefined;
  #begun = -Infinity;

  constructor(options: DurableFeedOptions) {
    this.#options = options;
  }

  push(entries: readonly JournalEntry[]): void {
    if (entries.length === 0) return;
    this.#waiting.push(entries);
    this.#sync();
  }

  /** Calls it after all entries so far, at once if none waits. */
  after(action: () => void): void {
    if (this.#waiting.length === 0) action();
    else this.#waiting.push(action);
  }

  /** Passes everything on: the disk has it, or never will. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#passOn(this.#waiting.length);
  }

  #sync(): void {
    if (this.#syncing || this.#failed || this.#timer !== undefined) return;
    const left = this.#begun + PAUSE_MS - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.#syncNow();
      }, left);
    } else void this.#syncNow();
  }

  async #syncNow(): Promise<void> {
    const count = this.#waiting.length;
    if (count === 0) return;
    this.#syncing = true;
    this.#begun = performance.now();
    // They may have been flushed meanwhile.
    const covered = this.#waiting[count - 1];
    try {
      await this.#options.sync();
      this.#passOn(this.#waiting.indexOf(covered!) + 1);
    } catch (error) {
      this.#failed = true;
      this.#options.failed(error);
    } finally {
      this.#syncing = false;
    }
    if (this.#waiting.length > 0) this.#sync();
  }

  /** Passes on this many entries, and the calls that wait behind them, up to the next entry. */
  #passOn(count: number): void {
    let passed = 0;
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]!;
      if (typeof next !== 'function' && passed >= count) return;
      this.#waiting.shift();
      passed++;
      if (typeof next === 'function') next();
      else this.#options.pass(next);
    }
  }
}
