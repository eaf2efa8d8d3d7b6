/**
 * Traces of a run in the page: orders one, waits until all ranks have sent their records, and reads
 * the traced iterations that are shown.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { TraceRecord } from '../../../shared/records/trace.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { IterationPlace, TracedStretch } from '../../../shared/rpc/run-pieces.ts';
import { timelineOf, type Timeline } from '../../../shared/trace/timeline.ts';
import type { Connection } from '../host/connection.ts';

/** Most iterations of a timeline: more are a matter for the exported file. */
const MOST_SHOWN = 100;

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
  #progress = $state.raw<TraceProgress>({ kind: 'idle' });
  #stretches = $state.raw<readonly TracedStretch[]>([]);
  #shown = $state.raw<TracedStretch>();
  #records = $state.raw<readonly TraceRecord[]>([]);
  readonly timeline: Timeline | undefined = $derived(
    this.#records.length === 0 ? undefined : timelineOf(this.#records),
  );
  #closed = false;

  constructor(connection: Connection, run: string) {
    this.#run = run;
    this.#api = connection.api;
    this.#stops = [
      connection.on('records', (id, entries) => {
        if (id === run) this.#take(entries);
      }),
      connection.on('runChanged', (summary) => {
        const isOver = summary.id === run && summary.endedAt !== undefined;
        if (isOver && this.#progress.kind === 'tracing') void this.#read();
      }),
      connection.on('resync', () => void this.#read()),
    ];
    void this.#read();
  }

  get progress(): TraceProgress {
    return this.#progress;
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
    for (const stop of this.#stops) stop();
  }

  /** Orders to trace the next iterations; shows them when all ranks have sent theirs. */
  async trace(iterations: number, ranks: number): Promise<void> {
    this.#progress = { kind: 'tracing', come: 0, expected: iterations * ranks };
    try {
      await this.#api.order(this.#run, { type: 'trace', iterations });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Shows other iterations that were traced. */
  async show(stretch: TracedStretch): Promise<void> {
    this.#progress = { kind: 'reading' };
    try {
      const { from } = stretch;
      const to = Math.min(stretch.to, from + MOST_SHOWN);
      const records: TraceRecord[] = [];
      let place: IterationPlace | undefined = { from };
      while (place !== undefined) {
        const piece = await this.#api.trace(this.#run, { ...place, to });
        if (this.#closed) return;
        records.push(...piece.records);
        place = piece.next;
      }
      this.#records = records;
      this.#shown = stretch;
      this.#progress = { kind: 'idle' };
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(entries: readonly JournalEntry[]): void {
    const come = entries.filter(({ record }) => record.type === 'trace').length;
    if (come === 0) return;
    const progress = this.#progress;
    if (progress.kind !== 'tracing') return;
    const sum = progress.come + come;
    this.#progress = { ...progress, come: sum };
    if (sum >= progress.expected) void this.#read();
  }

  /** Reads what was traced, and shows the newest. */
  async #read(): Promise<void> {
    try {
      this.#stretches = await this.#api.tracedIterations(this.#run);
      const last = this.#stretches.at(-1);
      if (last === undefined || this.#closed) {
        if (this.#progress.kind === 'tracing') this.#progress = { kind: 'idle' };
      } else await this.show(last);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const data = toErrorData(error);
    // The connection reports that it is back, and then it is read again.
    this.#progress =
      data.code === 'CONNECTION_LOST'
        ? { kind: 'idle' }
        : { kind: 'failed', error: data };
  }
}
