/** Quantities as people read them in a terminal: three figures and a unit. */
import { formatBytes } from '../../shared/words/units.ts';

export { formatDateTime as date } from '../../shared/words/units.ts';

export function milliseconds(ms: number): string {
  // Whole seconds first: the rest of a minute would be rounded up to 60 s.
  const seconds = Math.round(ms / 1000);
  if (ms >= 59_950) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return ms >= 1000 ? `${figures(ms / 1000)} s` : `${figures(ms)} ms`;
}

/** `1 iteration`, `400 iterations` */
export const iterationsText = (count: number): string =>
  `${count} ${count === 1 ? 'iteration' : 'iterations'}`;

/** Bytes in the user's unit; those below the first prefix as a whole number. */
export const bytes = (count: number): string =>
  count < 999.5 ? `${Math.round(count)} B` : formatBytes(count);

/** @param fraction 0…1 */
export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(fraction < 0.0995 && fraction > 0 ? 1 : 0)} %`;
}

export function loss(value: number): string {
  return value.toPrecision(4);
}

function figures(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
