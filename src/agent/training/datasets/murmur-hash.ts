/**
 * MurmurHash3 for 32 bits (Austin Appleby, public domain; the variant x86_32): turns a name
 * into a number, the same on every machine and in every run.
 */

/** MurmurHash3's finalizer, which maps 32 bits onto 32 bits one to one. */
export function finalHash(bits: number): number {
  let h = bits;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Hashes bytes with a seed to 0…2³²−1. */
export function murmurHash(bytes: Uint8Array, seed: number): number {
  const { length } = bytes;
  let h = seed;
  const whole = length - (length % 4);
  for (let i = 0; i < whole; i += 4) {
    const word =
      bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    h = (Math.imul(rotate(h ^ mixed(word), 13), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let i = length - 1; i >= whole; i--) rest = (rest << 8) | bytes[i]!;
  return finalHash(h ^ mixed(rest) ^ length);
}

/** 0 for 0, so that an empty rest changes nothing. */
const mixed = (word: number): number =>
  Math.imul(rotate(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);

const rotate = (word: number, bits: number): number =>
  (word << bits) | (word >>> (32 - bits));
