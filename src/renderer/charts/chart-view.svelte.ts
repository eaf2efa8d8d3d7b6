/**
 * The view of a run's charts, which they share: the span that is shown, on which axis, the
 * cursor, the pinned iteration, and what is being selected. A change in one chart is one in all.
 */
import type { AxisKind } from './axis-map.ts';
import { Cursor } from './cursor.svelte.ts';
import {
  follows,
  moved,
  partBetween,
  spanRange,
  stepped,
  zoomed,
  type Part,
  type Span,
  type SpanStep,
} from './span.ts';

/** Spans that `back` returns to, at most. */
const MOST_EARLIER = 50;
/** Milliseconds within which turns of a wheel are one change. */
const ONE_TURN_MS = 600;

/** The bar or point that was clicked, of several iterations, for one that is pinned. */
export interface PinnedOf extends Part {
  /**
   * The choice among them: the longest, of all ranks or of one, or the place of the cursor, also
   * where there are too many to find the longest.
   */
  readonly choice: 'longest' | 'place' | 'too-many' | { readonly longestOf: number };
}

export class ChartView {
  readonly cursor = new Cursor();
  readonly #iterations: () => number;
  readonly #initial: () => Span;
  /** The span that the user chose. */
  #chosen = $state.raw<Span>();
  /** The span among those that move on with the run that the user chose last. */
  #tail: Span | undefined;
  #selection = $state.raw<Part>();
  #earlier = $state.raw<readonly Span[]>([]);
  #changedAt = -Infinity;
  #kind = $state<AxisKind>('iteration');
  #pinned = $state<number>();
  #pinnedOf = $state.raw<PinnedOf>();
  /** The run's length when the charts were paused. */
  #still = $state<number>();

  /**
   * @param iterations the run's length, as far as the page knows it
   * @param initial the span that is shown until the user chooses another
   */
  constructor(iterations: () => number, initial: () => Span) {
    this.#iterations = iterations;
    this.#initial = initial;
  }

  get span(): Span {
    return this.#chosen ?? this.#initial();
  }

  /** Iterations of the run, as far as charts show them. */
  get length(): number {
    return this.lengthOf(this.#iterations());
  }

  /** The length of a run that charts show: no more than when they were paused. */
  lengthOf(iterations: number): number {
    return Math.min(iterations, this.#still ?? Infinity);
  }

  get kind(): AxisKind {
    return this.#kind;
  }

  set kind(kind: AxisKind) {
    this.#kind = kind;
  }

  /** The iteration whose numbers are shown rank by rank. */
  get pinned(): number | undefined {
    return this.#pinned;
  }

  /** The bar that the pinned iteration was chosen from; undefined if it stands for itself. */
  get pinnedOf(): PinnedOf | undefined {
    return this.#pinnedOf;
  }

  /**
   * Pins the iteration at a place; the pinned one again: none.
   * @param of the bar it was chosen from, if that has several
   */
  pin(place: number, of?: PinnedOf): void {
    this.#pinnedOf = of;
    const iteration = Math.max(0, Math.min(this.length - 1, Math.round(place)));
    this.#pinned =
      this.length === 0 || iteration === this.#pinned ? undefined : iteration;
  }

  unpin(): void {
    this.#pinned = undefined;
  }

  /** Whether the charts stand still; records come in all the same. */
  get isPaused(): boolean {
    return this.#still !== undefined;
  }

  /** Stops the charts, or lets them go on. */
  pause(isPaused: boolean): void {
    this.#still = isPaused ? this.#iterations() : undefined;
  }

  /** The iterations that are shown, whole ones. */
  get range(): Part {
    return spanRange(this.span, this.length);
  }

  /** Whether the view moves on with the run. */
  get isFollowing(): boolean {
    return follows(this.span);
  }

  /** The part that the pointer is selecting. */
  get selection(): Part | undefined {
    return this.#selection;
  }

  set selection(selection: Part | undefined) {
    this.#selection = selection;
  }

  /** Whether there is a span to go back to. */
  get hasEarlier(): boolean {
    return this.#earlier.length > 0;
  }

  /** Shows a span. */
  show(span: Span): void {
    this.#changedAt = -Infinity;
    this.#change(span);
  }

  /** Zooms by a factor around a place, in iterations; by turns of a wheel, many times. */
  zoom(factor: number, around: number): void {
    this.#turn(zoomed(this.span, this.length, factor, around));
  }

  /** Moves by a share of what is shown; positive: later. */
  move(share: number): void {
    this.#turn(moved(this.span, this.length, share));
  }

  /** Takes a step; it may lead nowhere. */
  step(step: SpanStep): void {
    const next = stepped(this.span, this.length, step, this.cursor.iteration);
    if (next !== undefined) this.show(next);
  }

  /** Whether a step leads somewhere. */
  canStep(step: SpanStep): boolean {
    return stepped(this.span, this.length, step) !== undefined;
  }

  /** Shows what lies between two places, in iterations. */
  showBetween(one: number, other: number): void {
    this.show(partBetween(one, other, this.length));
  }

  /** Shows the whole run. */
  fit(): void {
    this.show('all');
  }

  /** Shows the newest iterations, and goes on with them. */
  follow(): void {
    this.show(this.#tail ?? this.#initial());
  }

  /** Shows what was shown before the last change. */
  back(): void {
    const earlier = this.#earlier.at(-1);
    if (earlier === undefined) return;
    this.#earlier = this.#earlier.slice(0, -1);
    this.#changedAt = -Infinity;
    this.#chosen = earlier;
  }

  /** A change that is one with those just before it. */
  #turn(span: Span): void {
    const now = performance.now();
    const joins = now - this.#changedAt < ONE_TURN_MS;
    if (joins) this.#chosen = span;
    else this.#change(span);
    this.#changedAt = now;
  }

  #change(span: Span): void {
    if (span === this.span) return;
    this.#earlier = [...this.#earlier, this.span].slice(-MOST_EARLIER);
    if (follows(span)) this.#tail = span;
    this.#chosen = span;
  }
}
