/**
 * Events for the renderer, of the coordinator and of the app's other parts: changed runs and new
 * records of watched runs, gathered and sent at most ten times a second; notices at once. Records
 * around the moment of `watch` may come twice: skip those that its answer's `lastSequence`
 * covers. The host knows its windows and counts watchers; here a run is either watched or not.
 */
import { OneAtATime } from '../../shared/async/one-at-a-time.ts';
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { ToldAlert } from '../../shared/alerts/told-alert.ts';
import type { SettingsState } from '../../shared/settings/setting.ts';
import type { CatchUp } from '../../shared/records/catch-up.ts';
import type { DataSetStatus } from '../../shared/rpc/data-set-status.ts';
import { atMachine, toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { messages } from '../store/json-bound.ts';
import type { NetworkStatus } from '../../shared/machines/link-status.ts';
import type { NodeStatus } from '../../shared/machines/node-status.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { AppEvents } from '../../shared/rpc/rpc.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { OpenQuestion } from '../../shared/machines/ssh-question.ts';
import type { CoordinatorEvents } from '../runs/run-news.ts';
import { lightened } from './light-entry.ts';

const INTERVAL_MS = 100;
/** Notices kept until a page is open: the newest. */
const MOST_NOTICES = 50;

export type AppListener = <E extends keyof AppEvents>(
  event: E,
  ...args: Parameters<AppEvents[E]>
) => void;

/** The state of things when an event is sent. */
export interface OutboxSources {
  /** Alerts of a run that have not been told yet. */
  alerts(summary: RunSummary): readonly ToldAlert[];
  nodes(): readonly NodeStatus[];
  /** The connection to a machine was made or lost. */
  nodeChanged(node: string): void;
}

export class EventOutbox implements CoordinatorEvents {
  readonly #sources: OutboxSources;
  readonly #pages = new Set<AppListener>();
  readonly #observers = new Set<AppListener>();
  readonly #watched = new Set<string>();
  readonly #changed = new Map<string, RunSummary>();
  readonly #records = new Map<string, JournalEntry[]>();
  readonly #catchUps: CatchUp[] = [];
  readonly #notices: ErrorData[] = [];
  /** Runs that have not ended. */
  readonly #live = new Set<string>();
  #nodesChanged = false;
  #dataSets: (() => Promise<readonly DataSetStatus[]>) | undefined;
  /** One list at a time, so that the last one sent is how things are. */
  readonly #listing = new OneAtATime(() => this.#listDataSets());
  #sweepsChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(sources: OutboxSources) {
    this.#sources = sources;
  }

  /** Adds a page; returns a function that removes it. */
  listen(listener: AppListener): () => void {
    return added(this.#pages, listener);
  }

  /** Adds a listener of the app's own, for which nothing is kept. */
  observe(listener: AppListener): () => void {
    return added(this.#observers, listener);
  }

  watch(run: string): void {
    this.#watched.add(run);
  }

  unwatch(run: string): void {
    this.#watched.delete(run);
    this.#records.delete(run);
  }

  changed(summary: RunSummary): void {
    for (const alert of this.#sources.alerts(summary)) this.#emit('alert', alert);
    this.#changed.set(summary.id, summary);
    this.#schedule();
    const isLive = !hasEnded(summary.state);
    if (this.#live.has(summary.id) === isLive) return;
    if (isLive) this.#live.add(summary.id);
    else this.#live.delete(summary.id);
    // Machines show which runs are active there, not their progress.
    this.nodesChanged();
  }

  records(run: string, entries: readonly JournalEntry[]): void {
    if (!this.#watched.has(run)) return;
    const waiting = this.#records.get(run) ?? [];
    this.#records.set(run, waiting);
    for (const entry of entries) waiting.push(lightened(entry));
    this.#schedule();
  }

  /** Kept until a page is open to receive it. */
  caughtUp(catchUp: CatchUp): void {
    if (this.#pages.size === 0) this.#catchUps.push(catchUp);
    this.#emit('caughtUp', catchUp);
  }

  /** Events that no page has received. */
  takeCatchUps(): readonly CatchUp[] {
    return this.#catchUps.splice(0);
  }

  /** Kept until a page is open to receive it. */
  notice(error: ErrorData): void {
    this.#emit('notice', error);
    if (this.#pages.size > 0) return;
    this.#notices.push(error);
    if (this.#notices.length > MOST_NOTICES) this.#notices.shift();
  }

  alertUntold(error: ErrorData): void {
    this.notice(error);
  }

  outOfReach(node: string, error: ErrorData): void {
    this.notice(atMachine(machineTitle(node), error));
  }

  silent(node: string, error: ErrorData | undefined): void {
    // Its card shows it for as long as it lasts.
    if (error === undefined) return;
    const message = `${machineTitle(node)} does not answer: ${error.message}`;
    this.notice({ ...error, message });
  }

  /** Notices that no page has received. */
  takeNotices(): readonly ErrorData[] {
    return this.#notices.splice(0);
  }

  nodeChanged(node: string): void {
    this.nodesChanged();
    this.#sources.nodeChanged(node);
  }

  nodesChanged(): void {
    this.#nodesChanged = true;
    this.#schedule();
  }

  networkChanged(network: NetworkStatus): void {
    this.#emit('networkChanged', network);
  }

  /** Data sets have changed; `list` is called when the push is sent. */
  dataSetsChanged(list: () => Promise<readonly DataSetStatus[]>): void {
    this.#dataSets = list;
    this.#schedule();
  }

  settingsChanged(settings: SettingsState): void {
    this.#emit('settingsChanged', settings);
  }

  historyPurged(): void {
    this.#emit('historyPurged');
  }

  /** Some sweep has changed. */
  sweepsChanged(): void {
    this.#sweepsChanged = true;
    this.#schedule();
  }

  questionsChanged(questions: readonly OpenQuestion[]): void {
    this.#emit('questionsChanged', questions);
  }

  /** Sends what is waiting, then nothing more. */
  close(): void {
    this.#flush();
    this.#closed = true;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#flush();
    }, INTERVAL_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Records first, so that a run's last records arrive before its end.
    for (const [run, entries] of this.#records) {
      for (const part of messages(entries)) this.#emit('records', run, part);
    }
    this.#records.clear();
    for (const summary of this.#changed.values()) this.#emit('runChanged', summary);
    this.#changed.clear();
    if (this.#sweepsChanged) this.#emit('sweepsChanged');
    this.#sweepsChanged = false;
    this.#listNodes();
    if (this.#dataSets !== undefined) void this.#listing.run();
  }

  /**
   * Lists the machines from the database, which may fail; pages are notified, and the app
   * continues.
   */
  #listNodes(): void {
    if (!this.#nodesChanged) return;
    this.#nodesChanged = false;
    let nodes: readonly NodeStatus[];
    try {
      nodes = this.#sources.nodes();
    } catch (error) {
      return this.notice(toErrorData(error));
    }
    this.#emit('nodesChanged', nodes);
  }

  async #listDataSets(): Promise<void> {
    const list = this.#dataSets;
    this.#dataSets = undefined;
    try {
      const sets = await list?.();
      if (sets !== undefined && !this.#closed) this.#emit('dataSetsChanged', sets);
    } catch (error) {
      this.notice(toErrorData(error));
    }
  }

  #emit<E extends keyof AppEvents>(event: E, ...args: Parameters<AppEvents[E]>): void {
    for (const listener of [...this.#pages, ...this.#observers])
      listener(event, ...args);
  }
}

function added(listeners: Set<AppListener>, listener: AppListener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
