/**
 * Follows one run for the page: reads stored records once, adds new ones, and reads
 * missed ones again (after a gap in the sequence or a lost line). Records go into typed
 * arrays; two clocks notify the page, so that its cost does not grow with the rate of
 * the records. Memory is bounded by RunHistory and by the number of events.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import {
  isErrorData,
  toErrorData,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../../shared/plan/exchange-plan.ts';
import { ACCURACY, type MetricKind } from '../../../shared/records/metric.ts';
import { asynchronousOf } from '../../../shared/spec/parallelism/asynchronous.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';
import {
  pipelineOf,
  pipelinePosition,
} from '../../../shared/spec/parallelism/pipeline.ts';
import { phasesOf, type Phase } from '../../../shared/records/phases.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunEvent } from '../../../shared/records/record-kinds.ts';
import type { SwitchRecord } from '../../../shared/records/switch.ts';
import type {
  AppApi,
  BinsQuery,
  RunDetail,
  RunSummary,
} from '../../../shared/rpc/rpc.ts';
import type { Connection } from '../host/connection.ts';
import { RedrawClock } from '../page/redraw-clock.svelte.ts';
import { keptEvents, newest } from '../history/kept-events.ts';
import type { RunHistory } from '../history/run-history.ts';
import { isLive } from './run-state.ts';
import { FULL_RECORDS, StoredRun } from '../history/stored-run.ts';
import { WindowMeans } from '../history/iteration-means.ts';
import {
  EFFECT_MINIMUM,
  effectReach,
  lacksIterations,
  switchEffect,
  type FenceBounds,
  type SwitchEffect,
} from './switch-effect.ts';
import { summarizeWindow, type WindowSummary } from './window-summary.ts';

/** Pause before bins are read again that a run in progress adds to. */
const WINDOW_PAUSE_MS = 1000;
/** Iterations that the verdict and the tiles look back on. */
const LOOK_BACK = 200;
/** Switches whose effect is computed: the latest. */
const EFFECTS = 12;

export class RunFeed {
  readonly run: string;
  /**
   * Clock of bars and headline numbers, at most 5 Hz. At 10 Hz the page takes a third more
   * time.
   */
  readonly fast = new RedrawClock(200);
  /** Clock of curves, tables and sentences, at most 2.5 Hz. */
  readonly slow = new RedrawClock(400);

  readonly #api: AppApi;
  readonly #stored: StoredRun;
  #summary = $state.raw<RunSummary>();
  #detail = $state.raw<RunDetail>();
  #history = $state.raw<RunHistory>();
  #error = $state.raw<ErrorData>();
  #events = $state.raw<readonly RunEvent[]>([]);
  readonly #effects = new SvelteMap<number, SwitchEffect>();
  /** Windows that are being read, or were just read, and whether they are wanted again. */
  #wanted: Readonly<Partial<Record<string, 'read' | 'again'>>> = {};

  readonly #stops: (() => void)[] = [];
  /** Records that came before the history was ready. */
  #early: JournalEntry[] | undefined = [];
  /** Events pushed since the events were last read whole. */
  #pushed: JournalEntry[] = [];
  #lastSequence = 0;
  /** Events left out since the events were last read. */
  #dropped = $state(0);
  #opening = false;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  /** Pauses before a window may be read again. */
  #pauses: readonly ReturnType<typeof setTimeout>[] = [];
  #closed = false;
  /** Epochs around which too little is stored to measure an effect. */
  readonly #unmeasured = new SvelteSet<number>();
  /** Epochs whose surroundings have been requested. */
  #asked: readonly number[] = [];

  constructor(connection: Connection, run: string) {
    this.run = run;
    this.#api = connection.api;
    this.#stored = new StoredRun(connection.api, run);
    this.#stops.push(
      connection.on('records', (id, entries) => {
        if (id === run) this.#take(entries);
      }),
      connection.on('runChanged', (summary) => {
        if (summary.id === run) this.#summary = summary;
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

  /** The run's metric. */
  get metricKind(): MetricKind {
    return this.#summary?.metricKind ?? ACCURACY;
  }

  /** Undefined until the stored part has been read. */
  get history(): RunHistory | undefined {
    return this.#history;
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
    return this.#events;
  }

  /** Events that are not among them, because there are very many. */
  get omittedEvents(): number {
    return (this.#detail?.omittedEvents ?? 0) + this.#dropped;
  }

  readonly switches: readonly SwitchRecord[] = $derived(
    this.#events
      .filter((event) => event.type === 'switch')
      .toSorted((a, b) => a.fence - b.fence),
  );

  /** The plan that the newest iterations ran under. */
  readonly plan: ExchangePlan | undefined = $derived(
    (this.switches.at(-1)?.to ??
      this.#events.find((event) => event.type === 'started')?.plan) as
      ExchangePlan | undefined,
  );

  readonly live: boolean = $derived(
    this.#summary !== undefined && isLive(this.#summary),
  );

  /** Effects by epoch, as far as there is evidence. */
  get effects(): ReadonlyMap<number, SwitchEffect> {
    return this.#effects;
  }

  /** Whether the iterations around a switch are too few, and there will be no more. */
  isUnmeasured(epoch: number): boolean {
    return this.#unmeasured.has(epoch);
  }

  /** The last iterations under the current plan; undefined while there are none. */
  readonly recentSummary: WindowSummary | undefined = $derived.by(() => {
    void this.slow.tick;
    const history = this.#history;
    if (history === undefined) return undefined;
    const to = history.completeLength;
    const fence = this.switches.findLast((record) => record.fence < to)?.fence ?? -1;
    return summarizeWindow(history.recent, Math.max(fence + 1, to - LOOK_BACK), to);
  });

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    this.#stored.close();
    for (const stop of this.#stops) stop();
    this.fast.close();
    this.slow.close();
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
      const data = isErrorData(error) ? error : toErrorData(error);
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
      const history = await this.#stored.history(detail, (...of) =>
        this.#wantWindow(...of),
      );
      if (this.#closed) return;
      const early = this.#early ?? [];
      this.#early = undefined;
      this.#history = history;
      this.#take(early);
      this.#touch();
      if (this.#readAgain) {
        this.#readAgain = false;
        this.#readMissed();
      }
    } catch (error) {
      this.#error = isErrorData(error) ? error : toErrorData(error);
    } finally {
      this.#opening = false;
    }
    // The connection was lost and came back in the meantime.
    if (this.#error !== undefined && this.#readAgain && !this.#closed)
      await this.#open();
  }

  /** A chart needs bins that are not here; it is drawn again when they are. */
  #wantWindow(history: RunHistory, query: BinsQuery): void {
    const key = `${query.rank} ${query.width} ${query.from}`;
    if (this.#wanted[key] !== undefined) {
      this.#wanted = { ...this.#wanted, [key]: 'again' };
      return;
    }
    this.#wanted = { ...this.#wanted, [key]: 'read' };
    void this.#readWindow(history, query).finally(() => {
      if (this.#closed) return;
      const pause = setTimeout(() => {
        this.#pauses = this.#pauses.filter((other) => other !== pause);
        const { [key]: state, ...others } = this.#wanted;
        this.#wanted = others;
        if (state === 'again') this.#draw();
      }, WINDOW_PAUSE_MS);
      this.#pauses = [...this.#pauses, pause];
    });
  }

  async #readWindow(history: RunHistory, query: BinsQuery): Promise<void> {
    try {
      const { completeLength, ranks } = history;
      const window = await this.#stored.window(query, ranks, completeLength);
      if (this.#closed) return;
      history.put(window);
      this.fast.soon();
      this.slow.soon();
    } catch (error) {
      const data = isErrorData(error) ? error : toErrorData(error);
      if (data.code !== 'CONNECTION_LOST') this.#error = data;
    }
  }

  #take(entries: readonly JournalEntry[]): void {
    if (this.#early !== undefined) {
      this.#early.push(...entries);
      return;
    }
    const history = this.#history;
    if (history === undefined || entries.length === 0) return;
    if (entries[0]!.sequence > this.#lastSequence + 1) this.#readMissed();
    let events: RunEvent[] | undefined;
    for (const entry of entries) {
      if (entry.record.type === 'iteration') {
        history.add(entry.record, entry.sequence);
      } else if (
        entry.record.type !== 'log' &&
        entry.record.type !== 'trace' &&
        entry.sequence > this.#lastSequence
      ) {
        this.#pushed.push(entry);
        events ??= [...this.#events];
        events.push(entry.record);
      }
      if (entry.sequence > this.#lastSequence) this.#lastSequence = entry.sequence;
    }
    if (events !== undefined) {
      const kept = keptEvents(events);
      this.#events = kept.events;
      this.#dropped += kept.dropped;
      this.#pushed = newest(this.#pushed);
    }
    this.#touch();
  }

  /** Reads everything since the last complete iteration, or all of it, and all events. */
  #readMissed(): void {
    if (this.#closed) return;
    const history = this.#history;
    if (history === undefined || this.#reading !== undefined) {
      this.#readAgain = true;
      return;
    }
    const from = Math.max(0, history.completeLength);
    this.#reading = this.#readFrom(history, from).finally(() => {
      this.#reading = undefined;
      if (!this.#readAgain) return;
      this.#readAgain = false;
      this.#readMissed();
    });
  }

  async #readFrom(history: RunHistory, from: number): Promise<void> {
    try {
      const detail = await this.#api.run(this.run);
      this.#setDetail(detail);
      if ((detail.iterations - from) * detail.ranks > FULL_RECORDS) {
        this.#early = [];
        try {
          this.#history = await this.#stored.history(detail, (...of) =>
            this.#wantWindow(...of),
          );
        } finally {
          const early = this.#early;
          this.#early = undefined;
          this.#take(early);
        }
      } else {
        for (const { record, sequence } of await this.#stored.iterations(from)) {
          history.add(record, sequence);
        }
      }
      this.#error = undefined;
      this.#touch();
    } catch (error) {
      const data = isErrorData(error) ? error : toErrorData(error);
      // Lost again: this is repeated when the connection reports that it is back.
      if (data.code !== 'CONNECTION_LOST') this.#error = data;
    }
  }

  #setDetail(detail: RunDetail): void {
    this.#detail = detail;
    this.#dropped = 0;
    this.#summary = detail;
    this.#pushed = this.#pushed.filter((entry) => entry.sequence > detail.lastSequence);
    this.#events = [
      ...detail.events,
      ...this.#pushed.map((entry) => entry.record as RunEvent),
    ];
    this.#lastSequence = Math.max(this.#lastSequence, detail.lastSequence);
  }

  #touch(): void {
    this.#updateEffects();
    this.#draw();
  }

  #draw(): void {
    this.fast.touch();
    this.slow.touch();
  }

  /** O(switches without a settled effect); nothing to do for most records. */
  #updateEffects(): void {
    const history = this.#history;
    if (history === undefined || this.switches.length === 0) return;
    const every = this.exchangeEvery;
    for (const [bounds, epoch] of this.#fences()) {
      if (this.#effects.get(epoch)?.settled === true || this.#asked.includes(epoch))
        continue;
      const passed =
        !this.live ||
        history.completeLength > bounds.fence + every * (effectReach(every) + 1);
      if (passed && lacksIterations(history.recent, bounds)) {
        this.#asked = [...this.#asked, epoch];
        void this.#readEffect(history.ranks, bounds, epoch);
        continue;
      }
      // Medians of up to 100 exchanges are computed only as evidence grows, not with
      // every batch.
      const done = Math.floor((history.completeLength - bounds.fence) / every);
      const grown = done - 1;
      if (grown < EFFECT_MINIMUM) continue;
      if (grown === this.#effects.get(epoch)?.after.exchanges) continue;
      const effect = switchEffect(history.recent, bounds);
      if (effect === undefined) continue;
      this.#effects.set(epoch, effect);
    }
  }

  /** Iterations per exchange. */
  get exchangeEvery(): number {
    return localStepsOf(this.#detail?.spec ?? {})?.every ?? 1;
  }

  /** Trainer threads per rank: this many of its iterations overlap. */
  get trainerThreads(): number {
    return asynchronousOf(this.#detail?.spec ?? {})?.trainerThreads ?? 1;
  }

  /** Phases that an iteration of this run has. */
  get phases(): readonly Phase[] {
    if (this.isPipeline) return phasesOf('stage');
    const { workload } = this.#detail?.spec ?? {};
    return phasesOf(workload && isProgram(workload) ? 'passes' : 'whole');
  }

  /** Whether it is a program that communicates by itself. */
  get isObserved(): boolean {
    return this.#detail?.spec.workload.observe === true;
  }

  /** Whether its model is split into stages. */
  get isPipeline(): boolean {
    return pipelineOf(this.#detail?.spec ?? {}) !== undefined;
  }

  /** `stage 1 of 2`; undefined if every rank has the whole model. */
  stageTitle(rank: number): string | undefined {
    const position = pipelinePosition(this.#detail?.spec ?? {}, rank);
    return position && `stage ${position.stage + 1} of ${position.stages}`;
  }

  *#fences(): Generator<[FenceBounds, number]> {
    const all = this.switches;
    for (let i = Math.max(0, all.length - EFFECTS); i < all.length; i++) {
      const { fence, epoch } = all[i]!;
      const [previous, next] = [all[i - 1]?.fence, all[i + 1]?.fence];
      yield [{ fence, previous, next, every: this.exchangeEvery }, epoch];
    }
  }

  /** A fence older than the held iterations: reads its surroundings separately. */
  async #readEffect(ranks: number, bounds: FenceBounds, epoch: number): Promise<void> {
    const every = this.exchangeEvery;
    const from = Math.max(0, bounds.fence - every * effectReach(every));
    const to = bounds.fence + every * (effectReach(every) + 1);
    try {
      const around = await this.#stored.window({ from, to, width: 1 }, ranks, to);
      const effect = switchEffect(new WindowMeans(around, ranks), bounds);
      if (this.#closed) return;
      if (effect === undefined) this.#unmeasured.add(epoch);
      else this.#effects.set(epoch, { ...effect, settled: true });
    } catch (error) {
      if (!isErrorData(error)) throw error;
      // Retried when new records come; until then the switch shows no effect.
      this.#asked = this.#asked.filter((other) => other !== epoch);
    }
  }
}
