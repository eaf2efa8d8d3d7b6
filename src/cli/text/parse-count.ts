/** Options that count something: digits only, so that `1e3` and `0x10` are not taken for a count. */
import { InvalidArgumentError } from 'commander';

/** A parser of whole numbers between two bounds. */
export function countBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `It must be a whole number from ${least} to ${most}.`,
    );
  };
}
