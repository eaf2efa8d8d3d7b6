/**
 * Ticks and texts of a horizontal axis: times have theirs at whole seconds, minutes, hours and
 * days, on the shown clock if they are moments.
 */
import {
  clockOffset,
  clockText,
  displayUnits,
} from '../../shared/words/display-units.ts';
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

/** Places of ticks in a range of times; undefined: those of round numbers. */
export function ticksOf(
  kind: AxisKind,
  range: AxisRange,
): readonly number[] | undefined {
  if (kind === 'bytes') return byteTicks(range);
  if (kind !== 'time' && kind !== 'clock') return undefined;
  const step = stepOf(range);
  return kind === 'clock' ? clockTicks(range, step) : multiples(range, step);
}

/** Multiples of a step within a range. */
function multiples({ max, min }: AxisRange, step: number): readonly number[] {
  const first = Math.ceil(min / step);
  const last = Math.floor(max / step);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => (first + index) * step,
  );
}

/**
 * Moments that are round on the shown clock. Each has its own offset, since clocks are set: some
 * times then come twice, and some not at all.
 */
function clockTicks({ max, min }: AxisRange, step: number): readonly number[] {
  const shown = new Set(
    [min, max]
      .map(clockOffset)
      .flatMap((offset) => multiples({ min: min + offset, max: max + offset }, step)),
  );
  const ticks = [...shown].flatMap((time) =>
    // No clock is a day ahead or behind: its offset is that before or after.
    [...new Set([time - DAY, time + DAY].map(clockOffset))].flatMap((offset) => {
      const at = time - offset;
      return at >= min && at <= max && clockOffset(at) === offset ? [at] : [];
    }),
  );
  return ticks.toSorted((a, b) => a - b);
}

/** Places of ticks at round numbers of KiB, MiB and so on; undefined: at those of kB and MB. */
export function byteTicks({ max, min }: AxisRange): readonly number[] | undefined {
  if (displayUnits().bytes === 'decimal' || !(max > min)) return undefined;
  const rough = (max - min) / MOST;
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(rough) / Math.log(1024)));
  const power = 2 ** Math.ceil(Math.log2(rough / unit));
  const step = Math.max(1, unit * power);
  return multiples({ max, min }, step);
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
      return timeText(value, stepOf(range));
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

const CLOCK = { dateStyle: 'short', timeStyle: 'medium' } as const;
const WORDS = {
  iteration: '',
  time: ' since start',
  clock: '',
  bytes: ' sent',
} as const;

/** A place on an axis other than that of iterations, closer than its ticks: `0:02:05 since start, `. */
export function placeText(kind: AxisKind, value: number, range: AxisRange): string {
  if (kind === 'iteration') return '';
  const size = range.max - range.min;
  const text =
    kind === 'clock' && size > DAY
      ? clockText(value, CLOCK)
      : tickText(kind, value, { min: value - size / 50, max: value });
  return `${text}${WORDS[kind]}, `;
}

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

const DATE = { day: 'numeric', month: 'short' } as const;

/** `14:05:10`, and the day at midnight. */
function timeText(at: number, step: number): string {
  const isMidnight = (at + clockOffset(at)) % DAY === 0;
  if (step >= DAY || isMidnight) return clockText(at, DATE);
  const time = new Date(at + clockOffset(at)).toISOString().slice(11);
  if (step >= MINUTE) return time.slice(0, 5);
  return step >= SECOND ? time.slice(0, 8) : time.slice(0, 12);
}

/** A moment on the shown clock, as ISO 8601 with its zone: `2026-03-01T14:05:10.250+01:00`. */
export const isoText = (at: number): string =>
  new Date(at + clockOffset(at)).toISOString().slice(0, -1) +
  zoneText(at).slice('UTC'.length).replace('−', '-');

/** The zone of the shown clock at a moment: `UTC+02:00`. */
export function zoneText(at: number): string {
  const minutes = clockOffset(at) / MINUTE;
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
