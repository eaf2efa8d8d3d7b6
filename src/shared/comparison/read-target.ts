/** A target as a user writes it: `0.9`, `90 %`, `1e-3`. */
import { inputError } from '../errors/errors.ts';

/** @throws GradwireError `TARGET_INVALID` */
export function readTarget(text: string): number {
  const [, number = '', percent] = /^\s*(\S+?)\s*(%)?\s*$/.exec(text) ?? [];
  const value = number === '' ? NaN : Number(number);
  if (Number.isFinite(value)) return percent === undefined ? value : value / 100;
  throw inputError('TARGET_INVALID', `the target "${text}" is not a number`, {
    place: 'target',
    next: 'Give a number, such as 0.9, or a percentage, such as 90%.',
  });
}
