/**
 * The alert rules over stored runs. They are evaluated where records are stored, in the same
 * transaction: whichever process stores a record, each rule sees it once, and its alert is stored
 * with the run as one more event.
 */
import type Database from 'better-sqlite3';
import {
  RunWatch,
  type RaisedAlert,
  type RuleChoices,
} from '../../shared/alerts/run-watch.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { AlertRecord } from '../../shared/records/alert.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { ruleChoices } from '../../shared/settings/alert-settings.ts';
import type { RunRow } from './run-row.ts';
import type { SettingTable } from './setting-table.ts';
import { WatchCache } from './watch-cache.ts';

/** A look at the clock and at this computer. */
export interface Moment {
  readonly now: number;
  readonly freeBytes?: number | undefined;
}

/** A run and the alerts that were stored of it. */
export type AlertListener = (
  summary: RunSummary,
  alerts: readonly RaisedAlert[],
) => void;

/** An ended run has nothing that an alert could say. */
const NO_RULES: RuleChoices = new Map();

/** The rules over one run, within a transaction. */
export class StoredWatch {
  readonly #watch: RunWatch;
  readonly #keep: (state: string | undefined) => void;
  readonly #told: RaisedAlert[] = [];
  #hasEnded = false;

  constructor(watch: RunWatch, keep: (state: string | undefined) => void) {
    this.#watch = watch;
    this.#keep = keep;
  }

  /** Alerts that were raised or are over, so far. */
  get told(): readonly RaisedAlert[] {
    return this.#told;
  }

  /** @returns the alerts to be stored with the record */
  observe(record: RunRecord): readonly AlertRecord[] {
    if (record.type === 'alert') return [];
    if (record.type === 'done' || record.type === 'failed') this.#hasEnded = true;
    return this.#note(this.#watch.observe({ kind: 'record', record, now: Date.now() }));
  }

  /** @returns the alerts to be stored */
  look({ freeBytes, now }: Moment): readonly AlertRecord[] {
    return this.#note(this.#watch.observe({ kind: 'moment', now, freeBytes }));
  }

  /** Stores the state; an ended run needs none. */
  keep(): void {
    this.#keep(this.#hasEnded ? undefined : this.#watch.state);
  }

  #note(alerts: readonly RaisedAlert[]): readonly AlertRecord[] {
    this.#told.push(...alerts);
    return alerts.filter(({ isRecorded }) => !isRecorded).map(({ alert }) => alert);
  }
}

export class RunAlerts {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #settings: SettingTable;
  readonly #listeners = new Set<AlertListener>();
  readonly #cache = new WatchCache();

  constructor(database: Database.Database, settings: SettingTable) {
    this.#statements = prepare(database);
    this.#settings = settings;
  }

  /**
   * The rules over a run as they were left; none over one that has ended, whose late records
   * raise no alert. Belongs into a transaction.
   */
  watch({
    number: run,
    state: runState,
  }: Pick<RunRow, 'number' | 'state'>): StoredWatch {
    if (hasEnded(runState)) {
      return new StoredWatch(new RunWatch(undefined, NO_RULES), (state) => {
        if (state === undefined) this.forget(run);
      });
    }
    const stored = this.#statements.state.get(run)?.state;
    const choices = ruleChoices(this.#settings.all());
    const watch = this.#cache.take(run, stored, choices);
    return new StoredWatch(watch, (state) => {
      if (state === undefined) {
        this.forget(run);
        return;
      }
      if (state !== stored) this.#statements.keep.run(run, state);
      this.#cache.keep(run, watch, state, choices);
    });
  }

  /** Removes what the rules have seen of a run that has ended. */
  forget(run: number): void {
    this.#statements.remove.run(run);
  }

  /** Hears of alerts that this process stored. @returns what ends it */
  listen(listener: AlertListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Tells of alerts that have been committed. */
  tell(summary: RunSummary, alerts: readonly RaisedAlert[]): void {
    if (alerts.length === 0) return;
    for (const listener of this.#listeners) listener(summary, alerts);
  }

  /** Tells of a run that failed without a last record. */
  tellFailure(summary: RunSummary, at: number, error: ErrorData): void {
    this.tell(summary, this.ofFailure(at, error));
  }

  /** The alert of a failure, if the home's rules have one. */
  ofFailure(at: number, error: ErrorData): readonly RaisedAlert[] {
    const watch = new RunWatch(undefined, ruleChoices(this.#settings.all()));
    const record: RunRecord = { type: 'failed', at, error };
    return watch.observe({ kind: 'record', record, now: at });
  }
}

const prepare = (database: Database.Database) => ({
  state: database.prepare<[number], { state: string }>(
    'SELECT state FROM alert_watches WHERE run = ?',
  ),
  keep: database.prepare<[number, string]>(`
    INSERT INTO alert_watches (run, state) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET state = excluded.state`),
  remove: database.prepare<[number]>('DELETE FROM alert_watches WHERE run = ?'),
});
