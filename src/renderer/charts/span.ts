/** How much of a run a chart shows: its last iterations, or all of it. */
export const SPANS = [
  { value: 80, title: 'last 80' },
  { value: 480, title: '480' },
  { value: 'all', title: 'all' },
] as const;
export type Span = (typeof SPANS)[number]['value'];

/** The iterations from ≤ i < to that a span covers in a run of this length. */
export function spanRange(span: Span, length: number): { from: number; to: number } {
  return { from: span === 'all' ? 0 : Math.max(0, length - span), to: length };
}

/** The axis for it: bars of a short run have the width that they will keep. */
export function spanAxis(span: Span, length: number): { min: number; max: number } {
  if (span === 'all') return { min: -0.5, max: Math.max(length, 40) - 0.5 };
  const from = Math.max(0, length - span);
  return { min: from - 0.5, max: from + span - 0.5 };
}
