/**
 * Traced steps of an observed program, on one rank. If the order comes after some of the steps,
 * these get a trace without spans, so that there is one from each rank.
 */
import type { NoticeRecord } from '../../shared/records/notice.ts';
import type { TraceRecord } from '../../shared/records/trace.ts';
import type { BucketLayout, Stepped } from '../bridge/messages.ts';
import { observedTrace } from './observed-trace.ts';
import { tracedNotice } from './traced-iterations.ts';

export interface ObservedTracesOptions {
  readonly rank: number;
  /** Ranks of the run. */
  readonly ranks: number;
  /** The name of the machine's clock. */
  readonly clock: string;
  readonly report: (record: TraceRecord | NoticeRecord) => void;
}

type Step = Pick<Stepped['step'], 'at' | 'wall' | 'trace'>;
type Layout = ReadonlyMap<number, BucketLayout>;

interface PassedStep {
  readonly iteration: number;
  readonly step: Step;
}

/** Past steps that are remembered for a late order: a minute of steps of 30 ms. */
const MOST_PASSED = 2000;

export class ObservedTraces {
  readonly #options: ObservedTracesOptions;
  #from = 0;
  #to = 0;
  #next = 0;
  /** The first step that has no record yet. */
  #untold = 0;
  #passed: PassedStep[] = [];

  constructor(options: ObservedTracesOptions) {
    this.#options = options;
  }

  /** Takes an order to trace iterations. Two orders at once also trace the iterations between them. */
  wants(from: number, iterations: number): void {
    const to = from + iterations;
    const goesOn = this.#next < this.#to;
    this.#from = goesOn ? Math.min(this.#from, from) : from;
    this.#to = goesOn ? Math.max(this.#to, to) : to;
    for (const { iteration, step } of this.#passed) {
      if (this.#has(iteration)) this.#tell(iteration, step, new Map());
    }
    if (this.#next >= this.#to) this.#tellEnd();
  }

  /** Takes a step that the program has told. */
  passed(iteration: number, step: Step, layout: Layout): void {
    this.#next = iteration + 1;
    if (this.#has(iteration)) this.#tell(iteration, step, layout);
    const { at, wall } = step;
    this.#passed.push({ iteration, step: { at, wall } });
    if (this.#passed.length >= 2 * MOST_PASSED) {
      this.#passed = this.#passed.slice(MOST_PASSED);
    }
    if (this.#next === this.#to) this.#tellEnd();
  }

  /** Ends the trace in progress, because no step follows. */
  close(): void {
    if (this.#next > this.#from && this.#next < this.#to) this.#tellEnd();
  }

  #has(iteration: number): boolean {
    return iteration >= Math.max(this.#from, this.#untold) && iteration < this.#to;
  }

  #tell(iteration: number, { at, trace, wall }: Step, layout: Layout): void {
    const { clock, rank, ranks, report } = this.#options;
    this.#untold = iteration + 1;
    const known = trace ?? {
      wall: Math.round(wall * 1e6),
      spans: [],
      dropped: 0,
      sums: [],
      met: [],
    };
    report(observedTrace({ rank, ranks, iteration, clock, at, trace: known, layout }));
  }

  #tellEnd(): void {
    const { rank, report } = this.#options;
    if (rank > 0) return;
    const last = Math.min(this.#next, this.#to) - 1;
    const notice = tracedNotice(this.#from, last);
    report({ type: 'notice', at: Date.now(), rank, ...notice });
  }
}
