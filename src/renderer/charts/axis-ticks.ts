/**
 * Ticks and texts of a horizontal axis: times have theirs at whole seconds, minutes, hours and
 * days, on this computer's clock if they are moments.
 */
import { formatBytes, formatCount, shorten } from '../../shared/words/units.ts';
import type { AxisKind } from './axis-map.ts';
import type { AxisRange } from './axis-range.ts';

/** The texts of a horizontal axis, and its ticks if they are not at round numbers. */
export interface HorizontalAxis {
  readonly format: (value: number) => string;
  readonly ticks?: (min: number, max: number) => readonly number[] | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Distances between ticks, in milliseconds. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((step) => step * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((step) => step * MINUTE),
  ...[1, 2, 3, 6, 12].map((step) => step * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((step) => step * DAY),
];
const MOST = 7;

const stepOf = ({ max, min }: AxisRange): number =>
  STEPS.find((step) => (max - min) / step <= MOST) ?? (max - min) / MOST;

/** Milliseconds by which this computer's clock is ahead of UTC at a moment. */
const offsetAt = (at: number): number => -new Date(at).getTimezoneOffset() * MINUTE;

/** Places of ticks in a range of times; undefined: those of round numbers. */
export function ticksOf(
  kind: AxisKind,
  range: AxisRange,
): readonly number[] | undefined {
  if (kind !== 'time' && kind !== 'clock') return undefined;
  const step = stepOf(range);
  const offset = kind === 'clock' ? offsetAt(range.min) : 0;
  const first = Math.ceil((range.min + offset) / step);
  const last = Math.floor((range.max + offset) / step);
  return Array.from(
    { length: last - first + 1 },
    (_, index) => (first + index) * step - offset,
  );
}

/** The text of a tick. */
export function tickText(kind: AxisKind, value: number, range: AxisRange): string {
  switch (kind) {
    case 'iteration':
      return Number.isInteger(value) ? formatCount(value) : '';
    case 'bytes':
      return shorten(formatBytes(value));
    case 'time':
      return elapsedText(value, range);
    case 'clock':
      return clockText(value, stepOf(range));
    default:
      return kind satisfies never;
  }
}

/** Texts and ticks of an axis, whose kind and range may change. */
export const axisTexts = (
  kind: () => AxisKind,
  range: () => AxisRange,
): HorizontalAxis => ({
  format: (value) => tickText(kind(), value, range()),
  ticks: (min, max) => ticksOf(kind(), { min, max }),
});

const two = (value: number): string => String(value).padStart(2, '0');

/** `12.5 s`, from a minute on `0:02:05`. */
function elapsedText(value: number, range: AxisRange): string {
  const step = stepOf(range);
  const digits = step < 10 ? 3 : step < 100 ? 2 : step < SECOND ? 1 : 0;
  const seconds = Math.abs(value) / SECOND;
  const sign = value < 0 ? '−' : '';
  if (range.max < MINUTE) return `${sign}${seconds.toFixed(digits)} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = (seconds % 60).toFixed(digits);
  return `${sign}${hours}:${two(minutes)}:${seconds % 60 < 10 ? '0' : ''}${rest}`;
}

/** `14:05:10`, and the day at midnight. */
function clockText(at: number, step: number): string {
  const then = new Date(at);
  const isMidnight = (at + offsetAt(at)) % DAY === 0;
  if (step >= DAY || isMidnight)
    return then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const minutes = `${two(then.getHours())}:${two(then.getMinutes())}`;
  if (step >= MINUTE) return minutes;
  const seconds = `${minutes}:${two(then.getSeconds())}`;
  if (step >= SECOND) return seconds;
  return `${seconds}.${String(then.getMilliseconds()).padStart(3, '0')}`;
}

/** A moment on this computer's clock, as ISO 8601 with its zone: `2026-03-01T14:05:10.250+01:00`. */
export const isoText = (at: number): string =>
  new Date(at + offsetAt(at)).toISOString().slice(0, -1) +
  zoneText(at).slice('UTC'.length).replace('−', '-');

/** The zone of this computer's clock at a moment: `UTC+02:00`. */
export function zoneText(at: number): string {
  const minutes = offsetAt(at) / MINUTE;
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
