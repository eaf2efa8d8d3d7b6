/** The stretch of time that a timeline shows: zoomed and moved, within the whole. Nanoseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The narrowest window: a microsecond. */
const NARROWEST = 1000;

/** @param factor below 1: closer @param around the moment that stays where it is */
export function zoomed(
  { from, to }: TimeWindow,
  factor: number,
  around: number,
  length: number,
): TimeWindow {
  const width = Math.min(length, Math.max(NARROWEST, (to - from) * factor));
  const share = (around - from) / (to - from);
  return within(around - share * width, width, length);
}

/** @param share of the window's width; positive: later */
export const moved = (
  { from, to }: TimeWindow,
  share: number,
  length: number,
): TimeWindow => within(from + share * (to - from), to - from, length);

/** A window that shows a stretch, with a little room beside it. */
export function around({ from, to }: TimeWindow, length: number): TimeWindow {
  const width = Math.min(length, Math.max(NARROWEST, 1.1 * (to - from)));
  return within((from + to - width) / 2, width, length);
}

function within(from: number, width: number, length: number): TimeWindow {
  const start = Math.max(0, Math.min(from, length - width));
  return { from: start, to: start + width };
}

/** A tick of the axis, with the digits that tell it from the next one: `1.954 s`. @param most on the axis */
export function tickText(at: number, step: number, most: number): string {
  const unit = most < 1e6 ? 1e3 : most < 1e9 ? 1e6 : 1e9;
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(at / unit).toFixed(digits)} ${unit < 1e6 ? 'µs' : unit < 1e9 ? 'ms' : 's'}`;
}
