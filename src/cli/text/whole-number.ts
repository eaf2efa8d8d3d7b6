/** Reads an option's value that is a whole number from 0. */
import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It must be a whole number from 0.');
}
