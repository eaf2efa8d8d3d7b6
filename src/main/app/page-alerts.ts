/**
 * Alerts for pages, whichever process stored them: what a run has more of than when it was last
 * looked at. A run of another process may have ended before this one finds it.
 */
import { toldAlert, type ToldAlert } from '../../shared/alerts/told-alert.ts';
import { GradwireError } from '../../shared/errors/errors.ts';
import type { AlertRecord } from '../../shared/records/alert.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { RunStore } from '../store/run-store.ts';

/** The news of a run that pages have been told. */
interface Told {
  /** Number of alerts that were raised. */
  readonly raised: number;
  readonly hasFailed: boolean;
  /** The last event that was read. */
  readonly sequence: number;
}

const NOTHING: Told = { raised: 0, hasFailed: false, sequence: 0 };

export class PageAlerts {
  readonly #store: RunStore;
  /** Number of the last run that is older than this object. */
  readonly #newest: number;
  readonly #told = new Map<string, Told>();

  constructor(store: RunStore) {
    this.#store = store;
    this.#newest = store.runs.newest();
    for (const { id } of store.runs.unended()) {
      this.#unlessUnreadable(() => {
        this.#told.set(id, this.#now(store.summary(id)));
      });
    }
  }

  /**
   * Alerts that were raised since the last look at this run. Of a run that had ended when this
   * object was made, those before the first look are left out. What cannot be read now is
   * returned by a later look.
   */
  look(summary: RunSummary): readonly ToldAlert[] {
    return (
      this.#unlessUnreadable(() => {
        const told = this.#told.get(summary.id) ?? this.#atFirst(summary);
        const hasFailed = summary.state === 'failed';
        const raised = raisedOf(summary);
        const alerts: AlertRecord[] = [];
        let { sequence } = told;
        if (raised > told.raised) {
          const read = this.#after(summary.id, sequence);
          alerts.push(...read.alerts);
          ({ sequence } = read);
        }
        if (hasFailed && !told.hasFailed) alerts.push(...this.#failure(summary));
        this.#told.set(summary.id, { raised, hasFailed, sequence });
        return alerts.map((alert) => toldAlert(summary, alert));
      }) ?? []
    );
  }

  #atFirst(summary: RunSummary): Told {
    const isNew = this.#store.runs.number(summary.id) > this.#newest;
    return isNew ? NOTHING : this.#now(summary);
  }

  #now(summary: RunSummary): Told {
    return {
      raised: raisedOf(summary),
      hasFailed: summary.state === 'failed',
      sequence: this.#store.lastSequence(summary.id),
    };
  }

  /** Alerts that were raised after an event, and the last event. */
  #after(
    id: string,
    after: number,
  ): { readonly alerts: readonly AlertRecord[]; readonly sequence: number } {
    const alerts: AlertRecord[] = [];
    let sequence = after;
    for (;;) {
      const events = this.#store.reads.eventsAfter(id, sequence);
      for (const { record } of events) {
        if (record.type === 'alert' && record.phase === 'raised') alerts.push(record);
      }
      const last = events.at(-1);
      if (last === undefined) return { alerts, sequence };
      ({ sequence } = last);
    }
  }

  /** A failure has no alert among the records: the last of them says it. */
  #failure({ endedAt, error }: RunSummary): readonly AlertRecord[] {
    if (error === undefined) return [];
    const alerts = this.#store.alerts.ofFailure(endedAt ?? Date.now(), error);
    return alerts.map(({ alert }) => alert);
  }

  #unlessUnreadable<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      return undefined;
    }
  }
}

const raisedOf = ({ alerts = [] }: RunSummary): number =>
  alerts.reduce((sum, { times }) => sum + times, 0);
