/**
 * Follows one run for the page: reads stored records once, adds new ones, and reads
 * missed ones again (after a gap in the sequence or a lost line). Records go into typed
 * arrays; two clocks notify the page, so that its cost does not grow with the rate of
 * the records. Memory is bounded by RunHistory and by the number of events.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import {
  isErrorData,
  toErrorData,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../../shared/plan/exchange-plan.ts';
import { ACCURACY, type MetricKind } from '../../../shared/records/metric.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import { isEvent, type RunEvent } from '../../../shared/records/record-kinds.ts';
import type { SwitchRecord } from '../../../shared/records/switch.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { RunDetail, RunSummary } from '../../../shared/rpc/run-summary.ts';
import type { Connection } from '../host/host-connection.ts';
import { RedrawClock } from '../page/redraw-clock.svelte.ts';
import { RunEvents } from '../history/run-events.svelte.ts';
import type { RunHistory } from '../history/run-history.ts';
import { FULL_RECORDS, StoredRun } from '../history/stored-run.ts';
import { WindowReads } from '../history/window-reads.ts';
import { RunShape } from './run-shape.ts';
import { isLive } from './run-state.ts';
import { SwitchEffects } from './switch-effects.svelte.ts';
import {
  summarizeWindow,
  windowStart,
  type WindowSummary,
} from '../../../shared/verdict/window-summary.ts';

export class RunFeed {
  readonly run: string;
  /**
   * Clock of bars and headline numbers, at most 5 Hz. At 10 Hz the page takes a third more
   * time.
   */
  readonly fast = new RedrawClock(200);
  /** Clock of curves and tables, at most 2.5 Hz. */
  readonly slow = new RedrawClock(400);
  /** Clock of sentences and means, at most once a second: nobody reads them faster. */
  readonly calm = new RedrawClock(1000);

  readonly #api: AppApi;
  readonly #stored: StoredRun;
  #summary = $state.raw<RunSummary>();
  #detail = $state.raw<RunDetail>();
  #history = $state.raw<RunHistory>();
  #error = $state.raw<ErrorData>();
  readonly #events = new RunEvents();
  readonly #windows: WindowReads;
  /** Windows of bins that were read. */
  #windowsRead = $state(0);
  /** Measured effects of its switches. */
  readonly effects: SwitchEffects;

  readonly #stops: (() => void)[] = [];
  /** Records that came before the history was ready. */
  #early: JournalEntry[] | undefined = [];
  #lastSequence = 0;
  #opening = false;
  readonly #missed = new OneAtATime(() => this.#readFrom());
  /** Whether records were missed while the run was being opened. */
  #readAgain = false;
  /** The first iteration that may lack records, until a read has succeeded; Infinity: none. */
  #from = Infinity;
  #closed = false;

  constructor(connection: Connection, run: string) {
    this.run = run;
    this.#api = connection.api;
    this.#stored = new StoredRun(connection.api, run);
    this.effects = new SwitchEffects(this.#stored);
    this.#windows = new WindowReads(this.#stored, {
      onread: () => {
        this.#windowsRead += 1;
        this.fast.soon();
        this.slow.soon();
      },
      onwanted: () => this.#draw(),
      onerror: (error) => this.#readFailed(error),
    });
    this.#stops.push(
      connection.on('records', (id, entries) => {
        if (id === run) this.#take(entries);
      }),
      connection.on('runChanged', (summary) => {
        if (summary.id === run) this.#learn(summary);
      }),
      connection.on('historyPurged', () => void this.#checkPurged()),
      connection.on('resync', () => this.#resync()),
    );
    void this.#open();
  }

  get summary(): RunSummary | undefined {
    return this.#summary;
  }

  get detail(): RunDetail | undefined {
    return this.#detail;
  }

  /** The shape of its iterations. */
  readonly shape: RunShape = $derived(new RunShape(this.#detail?.spec));

  /** The run's metric. */
  get metricKind(): MetricKind {
    return this.#summary?.metricKind ?? ACCURACY;
  }

  /** The run's records; undefined until the stored ones have been read. */
  get history(): RunHistory | undefined {
    return this.#history;
  }

  /** The number of windows of bins that have been read: a chart that stands still waits for them. */
  get windowsRead(): number {
    return this.#windowsRead;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Whether it was deleted for good: nothing of it can be read any longer. */
  get isPurged(): boolean {
    return this.#error?.code === 'RUN_PURGED';
  }

  /** Oldest first. */
  get events(): readonly RunEvent[] {
    return this.#events.all;
  }

  /** Events that are not among them, because there are very many. */
  get omittedEvents(): number {
    return (this.#detail?.omittedEvents ?? 0) + this.#events.dropped;
  }

  readonly switches: readonly SwitchRecord[] = $derived(
    this.events
      .filter((event) => event.type === 'switch')
      .toSorted((a, b) => a.fence - b.fence),
  );

  /** The plan that the newest iterations ran under. */
  readonly plan: ExchangePlan | undefined = $derived(
    (this.switches.at(-1)?.to ??
      this.events.find((event) => event.type === 'started')?.plan) as
      ExchangePlan | undefined,
  );

  readonly live: boolean = $derived(
    this.#summary !== undefined && isLive(this.#summary),
  );

  /** The last iterations under the current plan; undefined while there are none. */
  readonly recentSummary: WindowSummary | undefined = $derived.by(() => {
    void this.calm.tick;
    const history = this.#history;
    if (history === undefined) return undefined;
    const to = history.completeLength;
    return summarizeWindow(history.recent, windowStart(this.switches, to), to);
  });

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#missed.close();
    this.#windows.close();
    this.effects.close();
    this.#stored.close();
    for (const stop of this.#stops) stop();
    for (const clock of [this.fast, this.slow, this.calm]) clock.close();
    this.#api.unwatch(this.run).catch((error: unknown) => {
      // A lost line no longer watches anything.
      if (!isErrorData(error)) throw error;
    });
  }

  /** The connection is back: reads what was missed, or opens the run if that failed. */
  #resync(): void {
    if (this.#history !== undefined) this.#readMissed();
    else if (this.#opening) this.#readAgain = true;
    else void this.#open();
  }

  /** Runs have been deleted for good: this one may be among them. */
  async #checkPurged(): Promise<void> {
    if (this.live) return;
    try {
      await this.#api.iterations(this.run, { from: 0, to: 0, most: 1 });
    } catch (error) {
      const data = toErrorData(error);
      if (data.code === 'RUN_PURGED') this.#error = data;
    }
  }

  async #open(): Promise<void> {
    this.#opening = true;
    this.#readAgain = false;
    try {
      const detail = await this.#api.watch(this.run);
      this.#setDetail(detail);
      // Of an earlier attempt: what is shown now is the run.
      this.#error = undefined;
      const history = await this.#storedHistory(detail);
      if (this.#closed) return;
      const early = this.#early ?? [];
      this.#early = undefined;
      this.#history = history;
      if (this.#readAgain) {
        this.#readAgain = false;
        this.#readMissed();
      }
      this.#take(early);
      this.#touch();
    } catch (error) {
      this.#error = toErrorData(error);
    } finally {
      this.#opening = false;
    }
    // The connection was lost and came back in the meantime.
    if (this.#error !== undefined && this.#readAgain && !this.#closed)
      await this.#open();
  }

  #storedHistory(detail: RunDetail): Promise<RunHistory> {
    return this.#stored.history(detail, (...of) => this.#windows.want(...of));
  }

  #learn(summary: RunSummary): void {
    const wasLive = this.live;
    this.#summary = summary;
    const last = this.#events.all.at(-1)?.type;
    // The app did not follow it: another process has stored its last records.
    if (wasLive && !this.live && last !== 'done' && last !== 'failed')
      this.#readMissed();
  }

  #take(entries: readonly JournalEntry[]): void {
    if (this.#early !== undefined) {
      this.#early.push(...entries);
      return;
    }
    const history = this.#history;
    if (history === undefined || entries.length === 0) return;
    if (entries[0]!.sequence > this.#lastSequence + 1) this.#readMissed();
    let events: JournalEntry[] | undefined;
    for (const entry of entries) {
      if (entry.record.type === 'iteration') {
        history.add(entry.record, entry.sequence);
      } else if (isEvent(entry.record) && entry.sequence > this.#lastSequence) {
        events ??= [];
        events.push(entry);
      }
      if (entry.sequence > this.#lastSequence) this.#lastSequence = entry.sequence;
    }
    if (events !== undefined) this.#events.push(events);
    this.#touch();
  }

  /** Reads everything since the last complete iteration, or all of it, and all events. */
  #readMissed(): void {
    const history = this.#history;
    if (history === undefined) {
      this.#readAgain = true;
      return;
    }
    // Now: records that are pushed from here on make it look complete behind the gap.
    this.#from = Math.min(this.#from, Math.max(0, history.completeLength));
    void this.#missed.run();
  }

  async #readFrom(): Promise<void> {
    const history = this.#history!;
    const from = this.#from;
    this.#from = Infinity;
    try {
      const detail = await this.#api.run(this.run);
      this.#setDetail(detail);
      if ((detail.iterations - from) * detail.ranks > FULL_RECORDS) {
        this.#early = [];
        try {
          this.#history = await this.#storedHistory(detail);
        } finally {
          const early = this.#early;
          this.#early = undefined;
          this.#take(early);
        }
      } else {
        const { lastSequence } = detail;
        const missed = await this.#stored.iterations(from, lastSequence);
        for (const { record, sequence } of missed) history.add(record, sequence);
      }
      this.#error = undefined;
      this.#touch();
    } catch (error) {
      this.#from = Math.min(this.#from, from);
      this.#readFailed(error);
    }
  }

  /** A lost connection is no failure: reading is repeated when it is back. */
  #readFailed(error: unknown): void {
    const data = toErrorData(error);
    if (data.code !== 'CONNECTION_LOST') this.#error = data;
  }

  #setDetail(detail: RunDetail): void {
    this.#detail = detail;
    this.#summary = detail;
    this.#events.read(detail);
    this.#lastSequence = Math.max(this.#lastSequence, detail.lastSequence);
  }

  #touch(): void {
    const history = this.#history;
    if (history !== undefined && this.switches.length > 0) {
      const { switches, live } = this;
      const every = this.shape.exchangeEvery;
      this.effects.update({ history, switches, every, live });
    }
    this.#draw();
  }

  #draw(): void {
    for (const clock of [this.fast, this.slow, this.calm]) clock.touch();
  }
}
