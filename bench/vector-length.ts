/** Numbers of elements as they are typed: 1000000, 10k, 25M. */
import { inputError } from '../src/shared/errors.ts';

/** @throws GradwireError `BENCH_OPTION_INVALID` */
export function parseLength(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([kM]?)$/.exec(text) ?? [];
  const n = Number(digits) * { '': 1, k: 1e3, M: 1e6 }[unit as '' | 'k' | 'M'];
  if (Number.isInteger(n) && n > 0) return n;
  throw inputError('BENCH_OPTION_INVALID', `"${text}" is no number of elements`, {
    next: 'Write it as 1000000 or 1M.',
  });
}
