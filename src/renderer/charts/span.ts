/** The span of a run that a chart shows: its last iterations, all of it, or a part. */
export const SPANS = [
  { value: 80, title: 'last 80' },
  { value: 480, title: '480' },
  { value: 'all', title: 'all' },
] as const;

/** A part of a run: from ≤ iteration < to. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

export type Span = (typeof SPANS)[number]['value'] | Part;

/** The least part that zooming leads to. */
const LEAST = 40;
/** The factor by which zooming in or out changes the part. */
const ZOOM = 4;

/** The iterations that a span covers in a run of this length. */
export function spanRange(span: Span, length: number): Part {
  if (typeof span === 'object') return span;
  return { from: span === 'all' ? 0 : Math.max(0, length - span), to: length };
}

/** The axis for it: bars of a short run have the width that they will keep. */
export function spanAxis(span: Span, length: number): { min: number; max: number } {
  if (span === 'all') return { min: -0.5, max: Math.max(length, 40) - 0.5 };
  if (typeof span === 'object') return { min: span.from - 0.5, max: span.to - 0.5 };
  const from = Math.max(0, length - span);
  return { min: from - 0.5, max: from + span - 0.5 };
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
  if (step === 'earlier' || step === 'later') return moved(span, length, step);
  return zoomed(span, length, step, step === 'in' ? around : undefined);
}

/**
 * The span after a step in or out, around an iteration or the middle; undefined if there is no
 * further one.
 */
function zoomed(
  span: Span,
  length: number,
  direction: 'in' | 'out',
  around?: number,
): Span | undefined {
  const { from, to } = spanRange(span, length);
  const size = to - from;
  if (direction === 'out' && size * ZOOM >= length)
    return span === 'all' ? undefined : 'all';
  const next = Math.round(direction === 'in' ? size / ZOOM : size * ZOOM);
  if (direction === 'in' && size <= LEAST) return undefined;
  const middle = around === undefined ? (from + to) / 2 : around;
  return partAt(middle, Math.max(LEAST, next), length);
}

/** The span half of it earlier or later; undefined at the end of the run. */
function moved(
  span: Span,
  length: number,
  direction: 'earlier' | 'later',
): Span | undefined {
  const { from, to } = spanRange(span, length);
  const size = to - from;
  if (direction === 'earlier' ? from === 0 : to >= length) return undefined;
  const step = Math.ceil(size / 2) * (direction === 'earlier' ? -1 : 1);
  return partAt((from + to) / 2 + step, size, length);
}

/** A part of a size that lies within the run. */
function partAt(middle: number, size: number, length: number): Part {
  const from = Math.max(0, Math.min(length - size, Math.round(middle - size / 2)));
  return { from, to: Math.min(length, from + size) };
}
