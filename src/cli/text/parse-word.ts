/** Options that name random numbers, or a place in a run: whole numbers of 32 bits. */
import { InvalidArgumentError } from 'commander';

export function parseWord(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 0xffffffff) {
    throw new InvalidArgumentError('It must be a whole number below 2^32.');
  }
  return number;
}
