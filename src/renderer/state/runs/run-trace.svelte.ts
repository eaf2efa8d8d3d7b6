/**
 * Traces of a run in the page: orders one, waits until all ranks have sent their records, and reads
 * the traced iterations that are shown.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { TraceRecord } from '../../../shared/records/trace.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { IterationPlace, TracedStretch } from '../../../shared/rpc/run-pieces.ts';
import { timelineOf, type Timeline } from '../../../shared/trace/timeline.ts';
import type { Connection } from '../host/host-connection.ts';

/** Most iterations of a timeline: more are a matter for the exported file. */
const MOST_SHOWN = 100;

/** Time between two counts of what is stored, while a trace is being made. */
const COUNT_MS = 1000;

/** A trace that is being made. */
interface Tracing {
  /** Records of ranks that were told, of those that are expected. */
  readonly told: number;
  readonly expected: number;
  /** Records that the store had when it last counted: nobody tells of another process's. */
  readonly stored: number;
  /** Records of earlier traces. */
  readonly earlier: number;
  /** Whether records may have been missed: then the store alone counts them. */
  readonly isUncertain: boolean;
}

export type TraceProgress =
  | { readonly kind: 'idle' }
  /** Records of ranks that have come, of those that will. */
  | { readonly kind: 'tracing'; readonly come: number; readonly expected: number }
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly error: ErrorData };

export class RunTrace {
  readonly #run: string;
  readonly #api: AppApi;
  readonly #stops: readonly (() => void)[];
  #tracing = $state.raw<Tracing>();
  #isReading = $state(false);
  #error = $state.raw<ErrorData>();
  #stretches = $state.raw<readonly TracedStretch[]>([]);
  #shown = $state.raw<TracedStretch>();
  #records = $state.raw<readonly TraceRecord[]>([]);
  readonly timeline: Timeline | undefined = $derived(
    this.#records.length === 0 ? undefined : timelineOf(this.#records),
  );
  readonly #counting = new OneAtATime(() => this.#count());
  /** Number of the last choice of what is shown: answers to earlier ones are dropped. */
  #choice = 0;
  #closed = false;
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(connection: Connection, run: string) {
    this.#run = run;
    this.#api = connection.api;
    this.#stops = [
      connection.on('records', (id, entries) => {
        if (id === run) this.#take(entries);
      }),
      connection.on('runChanged', (summary) => {
        const isOver = summary.id === run && summary.endedAt !== undefined;
        if (isOver && this.#tracing !== undefined) this.#end();
      }),
      connection.on('resync', () => this.#resync()),
    ];
    void this.#showNewest();
  }

  /** The trace that is being made, else the one that is being read. */
  get progress(): TraceProgress {
    const [tracing, error] = [this.#tracing, this.#error];
    if (tracing !== undefined) {
      const { expected } = tracing;
      return { kind: 'tracing', come: comeOf(tracing), expected };
    }
    if (this.#isReading) return { kind: 'reading' };
    return error === undefined ? { kind: 'idle' } : { kind: 'failed', error };
  }

  /** Iterations that were traced, in order. */
  get stretches(): readonly TracedStretch[] {
    return this.#stretches;
  }

  /** The iterations of the timeline. */
  get shown(): TracedStretch | undefined {
    return this.#shown;
  }

  get records(): readonly TraceRecord[] {
    return this.#records;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#clock);
    this.#counting.close();
    for (const stop of this.#stops) stop();
  }

  /** Orders to trace the next iterations; shows them when all ranks have sent theirs. */
  async trace(iterations: number, ranks: number): Promise<void> {
    this.#tracing = {
      told: 0,
      stored: 0,
      expected: iterations * ranks,
      earlier: recordsOf(this.#stretches),
      isUncertain: false,
    };
    this.#error = undefined;
    clearInterval(this.#clock);
    this.#clock = setInterval(() => void this.#counting.run(), COUNT_MS);
    try {
      await this.#api.order(this.#run, { type: 'trace', iterations });
    } catch (error) {
      clearInterval(this.#clock);
      this.#tracing = undefined;
      this.#fail(error);
    }
  }

  /** Shows other iterations that were traced. */
  async show(stretch: TracedStretch): Promise<void> {
    await this.#choose(async () => stretch);
  }

  #resync(): void {
    if (this.#tracing === undefined) {
      void this.#showNewest();
      return;
    }
    this.#tracing = { ...this.#tracing, isUncertain: true };
    void this.#counting.run();
    void this.#checkEnd();
  }

  /** The run may have ended while the connection was lost: then no more records come. */
  async #checkEnd(): Promise<void> {
    try {
      const { endedAt } = await this.#api.run(this.#run);
      if (endedAt !== undefined && this.#tracing !== undefined) this.#end();
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(entries: readonly JournalEntry[]): void {
    const come = entries.filter(({ record }) => record.type === 'trace').length;
    if (come === 0) return;
    const tracing = this.#tracing;
    if (tracing === undefined) return;
    if (tracing.isUncertain) void this.#counting.run();
    else this.#note({ ...tracing, told: tracing.told + come });
  }

  /** Counts what has come of the trace that is being made. */
  async #count(): Promise<void> {
    try {
      this.#stretches = await this.#api.tracedIterations(this.#run);
      const tracing = this.#tracing;
      if (tracing === undefined) return;
      const stored = recordsOf(this.#stretches) - tracing.earlier;
      this.#note({ ...tracing, stored });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Notes how many records of the trace that is being made have come. */
  #note(tracing: Tracing): void {
    this.#tracing = tracing;
    if (comeOf(tracing) >= tracing.expected) this.#end();
  }

  #end(): void {
    clearInterval(this.#clock);
    this.#tracing = undefined;
    if (this.#closed) return;
    void this.#showNewest();
  }

  /** Reads what was traced, and shows the newest. */
  async #showNewest(): Promise<void> {
    await this.#choose(async () => {
      this.#stretches = await this.#api.tracedIterations(this.#run);
      return this.#stretches.at(-1);
    });
  }

  /** Shows a stretch, unless another one is chosen until it has been read. */
  async #choose(find: () => Promise<TracedStretch | undefined>): Promise<void> {
    const choice = ++this.#choice;
    const isOver = (): boolean => this.#closed || choice !== this.#choice;
    try {
      const stretch = await find();
      if (isOver()) return;
      this.#error = undefined;
      if (stretch === undefined) return;
      this.#isReading = true;
      const { from } = stretch;
      const to = Math.min(stretch.to, from + MOST_SHOWN);
      const records: TraceRecord[] = [];
      let place: IterationPlace | undefined = { from };
      while (place !== undefined) {
        const piece = await this.#api.trace(this.#run, { ...place, to });
        if (isOver()) return;
        records.push(...piece.records);
        place = piece.next;
      }
      this.#records = records;
      this.#shown = stretch;
    } catch (error) {
      if (!isOver()) this.#fail(error);
    } finally {
      if (choice === this.#choice) this.#isReading = false;
    }
  }

  #fail(error: unknown): void {
    const data = toErrorData(error);
    // The connection reports that it is back, and then it is read again.
    this.#error = data.code === 'CONNECTION_LOST' ? undefined : data;
  }
}

const comeOf = ({ stored, told }: Tracing): number => Math.max(stored, told);

const recordsOf = (stretches: readonly TracedStretch[]): number =>
  stretches.reduce((sum, { records }) => sum + records, 0);
