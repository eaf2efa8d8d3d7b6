/** The span of a run that its charts show: its last iterations, all of it, or a part. */
export const SPANS = [
  { value: 50, title: 'last 50' },
  { value: 160, title: '160' },
  { value: 1000, title: '1000' },
  { value: 'all', title: 'all' },
] as const;

/** The span of a run in progress until the user chooses one. */
export const TAIL = 160;

/** A part of a run: from ≤ iteration < to. Its ends may be fractions while it is zoomed. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

export type Span = (typeof SPANS)[number]['value'] | Part;

/** The least part that zooming leads to. */
const LEAST = 10;
/** Iterations that the axis of a whole run has at least: bars keep their width at first. */
const LEAST_WHOLE = 40;
/** The factor by which a step closer or wider changes the part. */
const STEP = 4;

/** Whether the span moves on with the run. */
export const follows = (span: Span): boolean => typeof span !== 'object';

/** The iterations that a span covers in a run of this length, whole ones. */
export function spanRange(span: Span, length: number): Part {
  if (typeof span !== 'object')
    return { from: span === 'all' ? 0 : Math.max(0, length - span), to: length };
  const from = Math.max(0, Math.min(Math.floor(span.from), length - 1));
  return { from, to: Math.max(from, Math.min(length, Math.ceil(span.to))) };
}

/** The axis for it: bars of a short run have the width that they will keep. */
export function spanAxis(span: Span, length: number): { min: number; max: number } {
  const { from, to } = extent(span, length);
  return { min: from - 0.5, max: to - 0.5 };
}

/** The part that the axis has room for; it may be longer than the run. */
function extent(span: Span, length: number): Part {
  if (typeof span === 'object') return span;
  if (span === 'all') return { from: 0, to: Math.max(length, LEAST_WHOLE) };
  const from = Math.max(0, length - span);
  return { from, to: from + span };
}

/** A step from a span to another. */
export type SpanStep = 'in' | 'out' | 'earlier' | 'later';

/**
 * The span after a step; undefined if it leads nowhere.
 * @param around the iteration that zooming in leads to; default: the middle
 */
export function stepped(
  span: Span,
  length: number,
  step: SpanStep,
  around?: number,
): Span | undefined {
  const { from, to } = spanRange(span, length);
  const size = to - from;
  switch (step) {
    case 'earlier':
      return from === 0 ? undefined : moved(span, length, -0.5);
    case 'later':
      return to >= length ? undefined : moved(span, length, 0.5);
    case 'in':
      if (size <= LEAST) return undefined;
      return partAt(around ?? (from + to) / 2, Math.round(size / STEP), length);
    case 'out':
      if (size * STEP >= length) return span === 'all' ? undefined : 'all';
      return partAt((from + to) / 2, size * STEP, length);
    default:
      return step satisfies never;
  }
}

/**
 * The span after zooming by a factor, below 1: closer.
 * @param around the place that stays where it is, in iterations
 */
export function zoomed(
  span: Span,
  length: number,
  factor: number,
  around: number,
): Span {
  const { from, to } = extent(span, length);
  const shown = Math.min(to - from, Math.max(length, LEAST));
  const size = Math.max(LEAST, shown * factor);
  if (size >= length) return 'all';
  const share = Math.max(0, Math.min(1, (around - from) / (to - from)));
  return within(around - share * size, size, length);
}

/** The span moved by a share of its width; positive: later. A whole run has nowhere to go. */
export function moved(span: Span, length: number, share: number): Span {
  const { from, to } = spanRange(span, length);
  // It moves on by itself.
  if (follows(span) && share > 0) return span;
  const { from: start, to: end } = typeof span === 'object' ? span : { from, to };
  if (end - start >= length) return span;
  return within(start + share * (end - start), end - start, length);
}

/** A part as it was chosen by its ends, in any order, widened to the least. */
export function partBetween(one: number, other: number, length: number): Span {
  const size = Math.abs(one - other);
  if (length <= LEAST || size >= length) return 'all';
  return partAt((one + other) / 2, size, length);
}

function partAt(middle: number, size: number, length: number): Part {
  const least = Math.max(LEAST, size);
  return within(middle - least / 2, least, length);
}

/** A part of a size that lies within the run. */
function within(from: number, size: number, length: number): Part {
  const start = Math.max(0, Math.min(length - size, from));
  return { from: start, to: Math.min(length, start + size) };
}
