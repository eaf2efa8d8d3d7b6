/**
 * Traces of a run in the page: orders one, waits until all ranks have sent their records, and reads
 * the traced iterations that are shown.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../shared/records/trace.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type {
  IterationPlace,
  TracedStretch,
  TracePiece,
} from '../../../shared/rpc/run-pieces.ts';
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
  /** Records and interruptions that there were before; undefined until that is known, and the trace is ordered. */
  readonly before:
    { readonly records: number; readonly interruptions: number } | undefined;
  /** Whether records may have been missed: then the store alone counts them. */
  readonly isUncertain: boolean;
}

/** A trace that ended before all of its records had come. */
export interface CutTrace {
  readonly why: 'interrupted' | 'ended';
  /** Records of ranks that came, of those that were expected. */
  readonly come: number;
  readonly expected: number;
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
  #cut = $state.raw<CutTrace>();
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
        if (isOver) this.#end('ended');
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

  /** Set if the trace that was made last lacks records. */
  get cut(): CutTrace | undefined {
    return this.#cut;
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
    this.#error = undefined;
    this.#cut = undefined;
    const nothing = { told: 0, stored: 0, expected: iterations * ranks };
    this.#tracing = { ...nothing, before: undefined, isUncertain: false };
    try {
      // What was listed last may lack traces that others have ordered since.
      const [stretches, { events }] = await Promise.all([
        this.#api.tracedIterations(this.#run),
        this.#api.run(this.#run),
      ]);
      if (this.#closed || this.#tracing === undefined) return;
      this.#stretches = stretches;
      const before = {
        records: recordsOf(stretches),
        interruptions: interruptionsIn(events),
      };
      this.#tracing = { ...nothing, before, isUncertain: false };
      this.#clock = setInterval(() => void this.#counting.run(), COUNT_MS);
      await this.#api.order(this.#run, { type: 'trace', iterations });
    } catch (error) {
      clearInterval(this.#clock);
      this.#tracing = undefined;
      this.#fail(error);
    }
  }

  /** Reads the whole of what is shown, for a file: a timeline has its begin alone. */
  async whole(): Promise<readonly TraceRecord[]> {
    const shown = this.#shown;
    if (shown === undefined) return [];
    if (shown.to - shown.from <= MOST_SHOWN) return this.#records;
    try {
      return (await this.#read(shown, () => this.#closed)) ?? [];
    } catch (error) {
      this.#fail(error);
      return [];
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

  /** The run may have ended, or lost its ranks, while the connection was lost: then no more records come. */
  async #checkEnd(): Promise<void> {
    try {
      const { endedAt, events } = await this.#api.run(this.#run);
      const known = this.#tracing?.before?.interruptions ?? Infinity;
      if (endedAt !== undefined) this.#end('ended');
      else if (interruptionsIn(events) > known) this.#end('interrupted');
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(entries: readonly JournalEntry[]): void {
    const tracing = this.#tracing;
    if (tracing?.before === undefined) return;
    const come = entries.filter(({ record }) => record.type === 'trace').length;
    if (come > 0) {
      if (tracing.isUncertain) void this.#counting.run();
      else this.#note({ ...tracing, told: tracing.told + come });
    }
    // Ranks that resume know nothing of the trace. Each `restarted` follows an `interrupted`.
    if (interruptionsIn(entries.map(({ record }) => record)) > 0)
      this.#end('interrupted');
  }

  /** Counts what has come of the trace that is being made. */
  async #count(): Promise<void> {
    try {
      this.#stretches = await this.#api.tracedIterations(this.#run);
      const tracing = this.#tracing;
      if (tracing?.before === undefined) return;
      const stored = recordsOf(this.#stretches) - tracing.before.records;
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

  /** Shows what has come of the trace that was made. @param why no more of it comes */
  #end(why?: CutTrace['why']): void {
    const tracing = this.#tracing;
    if (tracing === undefined) return;
    clearInterval(this.#clock);
    this.#tracing = undefined;
    if (this.#closed) return;
    void this.#choose(async () => {
      this.#stretches = await this.#api.tracedIterations(this.#run);
      const { before, expected } = tracing;
      const stored = recordsOf(this.#stretches) - (before?.records ?? Infinity);
      const come = Math.max(stored, comeOf(tracing));
      if (why !== undefined && come < expected) this.#cut = { why, come, expected };
      return come > 0 || this.#shown === undefined ? this.#stretches.at(-1) : undefined;
    });
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
      const to = Math.min(stretch.to, stretch.from + MOST_SHOWN);
      const records = await this.#read({ ...stretch, to }, isOver);
      if (records === undefined) return;
      this.#records = records;
      this.#shown = stretch;
    } catch (error) {
      if (!isOver()) this.#fail(error);
    } finally {
      if (choice === this.#choice) this.#isReading = false;
    }
  }

  /** Reads the records of a stretch, piece by piece; undefined if it is over before. */
  async #read(
    { from, to }: Pick<TracedStretch, 'from' | 'to'>,
    isOver: () => boolean,
  ): Promise<readonly TraceRecord[] | undefined> {
    const records: TraceRecord[] = [];
    let place: IterationPlace | undefined = { from };
    while (place !== undefined) {
      const piece: TracePiece = await this.#api.trace(this.#run, { ...place, to });
      if (isOver()) return undefined;
      records.push(...piece.records);
      place = piece.next;
    }
    return records;
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

const interruptionsIn = (records: readonly Pick<RunRecord, 'type'>[]): number =>
  records.filter(({ type }) => type === 'interrupted').length;
