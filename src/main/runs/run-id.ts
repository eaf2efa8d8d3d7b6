/**
 * A run's id: eight letters and digits that cannot be mistaken for each other when read
 * aloud or typed (Crockford's base 32), 40 random bits. On the command line any unique
 * prefix names the run.
 */
import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 8;

export function newRunId(): string {
  return Array.from(
    { length: LENGTH },
    () => ALPHABET[randomInt(ALPHABET.length)]!,
  ).join('');
}
