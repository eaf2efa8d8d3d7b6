/** Ticks of an axis: round values, or powers of ten. */
import type { PictureAxis } from './picture.ts';

/** @param most ticks, about */
export function ticksOf(
  { logarithmic = false, max, min, ticks }: PictureAxis,
  most: number,
): readonly number[] {
  if (!(max > min)) return [];
  if (ticks !== undefined) return ticks.filter((tick) => tick >= min && tick <= max);
  return logarithmic ? powersOfTen(min, max, most) : roundValues(min, max, most);
}

function powersOfTen(min: number, max: number, most: number): readonly number[] {
  const first = Math.ceil(Math.log10(min) - 1e-9);
  const last = Math.floor(Math.log10(max) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}

function roundValues(min: number, max: number, most: number): readonly number[] {
  const rough = (max - min) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((digit) => digit * power >= rough * 0.999)!;
  const ticks: number[] = [];
  for (let n = Math.ceil(min / step - 1e-9); n * step <= max + 1e-9 * step; n++) {
    ticks.push(Number((n * step).toPrecision(12)));
  }
  return ticks;
}
