/**
 * Maps values to positions along an axis and picks round values for its ticks. Written
 * here because a plotting library's scales would add a dozen packages.
 */
import type { Axis } from './chart.ts';

export interface AxisScale {
  readonly ticks: readonly number[];
  /** 0…1 from the axis's start to its end. */
  place(value: number): number;
}

/** Approximate number of ticks on a linear axis. */
const TICKS = 5;

/**
 * @param values all values that must fit on the axis, at least one
 * @param zero whether a linear axis begins at 0, as bars require
 */
export function axisScale(
  axis: Axis,
  values: readonly number[],
  zero: boolean,
): AxisScale {
  return axis.scale === 'log'
    ? logScale(axis.ticks, values)
    : linearScale(axis.ticks, zero ? [0, ...values] : values);
}

function linearScale(
  given: readonly number[] | undefined,
  values: readonly number[],
): AxisScale {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const step = roundStep((high - low || Math.abs(high) || 1) / TICKS);
  const from = Math.min(...(given ?? []), Math.floor(low / step) * step);
  const to = Math.max(...(given ?? []), Math.ceil(high / step) * step);
  const count = Math.round((to - from) / step);
  const ticks =
    given ??
    Array.from({ length: count + 1 }, (_, index) =>
      Number((from + index * step).toPrecision(12)),
    );
  return { ticks, place: (value) => (value - from) / (to - from || 1) };
}

/** The next of 1, 2, 5 · 10ⁱ. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const digit = [1, 2, 5, 10].find((candidate) => candidate * power >= step * 0.999);
  return (digit ?? 10) * power;
}

function logScale(
  given: readonly number[] | undefined,
  values: readonly number[],
): AxisScale {
  const low = Math.min(...values);
  if (!(low > 0)) throw new Error(`internal: ${low} has no logarithm`);
  const decades = given === undefined;
  const from = decades
    ? Math.floor(Math.log10(low))
    : Math.log10(Math.min(low, ...given));
  const high = Math.log10(Math.max(...values, ...(given ?? [])));
  const to = decades ? Math.max(Math.ceil(high), from + 1) : high;
  const ticks =
    given ?? Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { ticks, place: (value) => (Math.log10(value) - from) / (to - from || 1) };
}

/** Texts of the ticks of an axis: powers of ten for all, if one of them needs it. */
export function tickTexts(values: readonly number[]): readonly string[] {
  const asPowers = values.some(needsPower);
  return values.map((value) => tickText(value, asPowers));
}

function needsPower(value: number): boolean {
  const magnitude = Math.abs(value);
  return magnitude !== 0 && (magnitude >= 1e6 || magnitude < 1e-3);
}

/** `0.1`, `2,000`, `10⁶` */
export function tickText(value: number, asPower = needsPower(value)): string {
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && asPower) {
    const power = Math.floor(Math.log10(magnitude) + 1e-9);
    const digits = Number((value / 10 ** power).toPrecision(3));
    return `${digits === 1 ? '' : `${digits}·`}10${superscript(power)}`;
  }
  const [whole, fraction] = String(Number(value.toPrecision(6))).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const superscript = (power: number): string =>
  [...String(power)]
    .map((digit) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(digit)]!)
    .join('');
