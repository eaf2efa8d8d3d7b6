/**
 * Quantities as texts, the same in the page, the CLI and the reports: three significant digits, a
 * space before the unit, the user's own units of bytes, rates and moments. A value that is not a
 * finite number is written as a dash: absent values are never shown as 0.
 */
import { clockOffset, displayUnits, type DisplayUnits } from './display-units.ts';

/** Shown where a quantity was not observed. */
const ABSENT = '–';

/** Three significant digits, trailing zeros kept so that live figures do not jump. */
function threeDigits(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return '0';
  if (magnitude >= 99.95) return String(Math.round(value));
  if (magnitude >= 9.995) return value.toFixed(1);
  if (magnitude >= 0.9995) return value.toFixed(2);
  return Number(value.toPrecision(3)).toString();
}

function scaled(
  value: number,
  step: number,
  units: readonly string[],
): { text: string; unit: string } {
  let magnitude = Math.abs(value);
  let index = 0;
  // 999.5, not 1000, so that a value that would round to "1000 kB" becomes "1.00 MB".
  while (magnitude >= step * 0.9995 && index < units.length - 1) {
    magnitude /= step;
    index += 1;
  }
  return { text: threeDigits(Math.sign(value) * magnitude), unit: units[index]! };
}

const DECIMAL_BYTES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
const BINARY_BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes: `48.0 kB`, `2.39 MB`, or with binary prefixes `46.9 KiB`. */
export function formatBytes(
  bytes: number | undefined,
  { bytes: prefixes }: Pick<DisplayUnits, 'bytes'> = displayUnits(),
): string {
  if (bytes === undefined || !Number.isFinite(bytes)) return ABSENT;
  const { text, unit } =
    prefixes === 'binary'
      ? scaled(bytes, 1024, BINARY_BYTES)
      : scaled(bytes, 1000, DECIMAL_BYTES);
  return `${text} ${unit}`;
}

/** A duration given in milliseconds: `820 µs`, `5.12 ms`, `1.24 s`, `2 min 05 s`. */
export function formatDuration(milliseconds: number | undefined): string {
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) return ABSENT;
  const magnitude = Math.abs(milliseconds);
  if (magnitude === 0) return '0 ms';
  if (magnitude < 0.9995) return `${threeDigits(milliseconds * 1000)} µs`;
  if (magnitude < 999.5) return `${threeDigits(milliseconds)} ms`;
  if (magnitude < 59_950) return `${threeDigits(milliseconds / 1000)} s`;
  // From 59.95 s on: a clock would still be at 59 s.
  return formatElapsed(Math.round(milliseconds / 1000) * 1000);
}

/** Time on a clock, whole seconds: `7 s`, `2 min 05 s`, `1 h 02 min`, `3 d 04 h`. */
export function formatElapsed(milliseconds: number | undefined): string {
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) return ABSENT;
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** A fraction 0…1 as percent: `41.3 %`, `0.98 %`; less than all is not `100 %` but `99.96 %`. */
export function formatPercent(fraction: number | undefined): string {
  if (fraction === undefined || !Number.isFinite(fraction)) return ABSENT;
  return `${belowAll(fraction * 100) ?? threeDigits(fraction * 100)} %`;
}

/** Digits of percent that would be rounded to 100, up to four decimals: the rest is noise. */
function belowAll(percent: number): string | undefined {
  if (percent < 99.95 || percent >= 100) return undefined;
  return [2, 3, 4]
    .map((digits) => percent.toFixed(digits))
    .find((text) => Number(text) < 100);
}

/** A fraction 0…1 as whole percent for prose, or `under 1 %`. */
export function formatWholePercent(fraction: number | undefined): string {
  if (fraction === undefined || !Number.isFinite(fraction)) return ABSENT;
  const percent = fraction * 100;
  if (percent > 0 && percent < 0.5) return 'under 1 %';
  return `${Math.round(percent)} %`;
}

/** Events per second: `128 it/s`. */
export function formatRate(perSecond: number | undefined, unit = 'it'): string {
  if (perSecond === undefined || !Number.isFinite(perSecond)) return ABSENT;
  return `${threeDigits(perSecond)} ${unit}/s`;
}

/** A link's bandwidth: `941 Mbit/s`, `9.41 Gbit/s`, or in bytes `118 MB/s`, always decimal. */
export function formatBitRate(bitsPerSecond: number | undefined): string {
  if (bitsPerSecond === undefined || !Number.isFinite(bitsPerSecond)) return ABSENT;
  const { text, unit } =
    displayUnits().rates === 'bytes'
      ? scaled(bitsPerSecond / 8, 1000, DECIMAL_BYTES)
      : scaled(bitsPerSecond, 1000, ['bit', 'kbit', 'Mbit', 'Gbit', 'Tbit']);
  return `${text} ${unit}/s`;
}

/** A ratio: `1.72×`. */
export function formatFactor(ratio: number | undefined): string {
  if (ratio === undefined || !Number.isFinite(ratio)) return ABSENT;
  return `${threeDigits(ratio)}×`;
}

/** A whole number with thousands separated by commas: `199,210`. */
export function formatCount(count: number | undefined): string {
  if (count === undefined || !Number.isFinite(count)) return ABSENT;
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A quantity without unit, such as a loss: four decimals, or powers of ten. */
export function formatQuantity(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 0.001 || magnitude >= 10_000)) {
    return value.toExponential(2);
  }
  return value.toFixed(4);
}

/** A moment on the shown clock: `2026-03-01 12:00`, `2026-03-01 11:00 UTC`. */
export function formatDateTime(at: number): string {
  const shown = new Date(at + clockOffset(at)).toISOString().slice(0, 16);
  return `${shown.replace('T', ' ')}${displayUnits().clock === 'utc' ? ' UTC' : ''}`;
}

/** A moment to the second with its zone: `2026-03-01 12:00:00 UTC+01:00`. */
export function formatZonedTime(at: number): string {
  const offset = clockOffset(at);
  const shown = new Date(at + offset).toISOString().slice(0, 19).replace('T', ' ');
  if (displayUnits().clock === 'utc') return `${shown} UTC`;
  const minutes = Math.abs(offset) / 60_000;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${shown} UTC${offset < 0 ? '−' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** A figure without trailing zeros: `10.0 MB` → `10 MB`. */
export function shorten(text: string): string {
  return text.replace(/(\d)\.0+(?=\D|$)/, '$1').replace(/(\.\d*[1-9])0+(?=\D|$)/, '$1');
}
