/** Numbers of elements as they are typed: 1000000, 10K, 25M. */
import { inputError } from '../src/shared/errors/errors.ts';

/** @throws GradwireError `BENCH_OPTION_INVALID` */
export function parseLength(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([kKM]?)$/.exec(text) ?? [];
  const n =
    Number(digits) * { '': 1, K: 1e3, M: 1e6 }[unit?.toUpperCase() as '' | 'K' | 'M'];
  if (Number.isInteger(n) && n > 0) return n;
  throw inputError('BENCH_OPTION_INVALID', `"${text}" is no number of elements`, {
    next: 'Write it as 10000, 10K or 1M.',
  });
}
