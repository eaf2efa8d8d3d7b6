/**
 * The magnitude that about k entries of the reduced vector reach, if its parts are on P
 * ranks; k is the average number of entries that a rank sent. The k-th largest is found
 * digit by digit, from the most significant one, since bit patterns of magnitudes have
 * the same order as the magnitudes. For each digit of 4 bits, every rank counts its
 * part's entries by their value of it.
 *
 * Cost: 8 small allreduces of 17 numbers and as many passes over the part. A threshold of
 * fewer digits would keep as many entries now, but too many when it is used again.
 *
 * Source: Ok-Topk (Li and Hoefler, PPoPP 2022), section 3.1.3, which gathers all reduced
 * entries on every rank instead.
 */
import type { Vector } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { smallAllreduce } from './small-allreduce.ts';

const DIGIT_BITS = 4;
const DIGITS = 1 << DIGIT_BITS;
/** Shift of the most significant digit, which contains the sign; that is masked. */
const FIRST_SHIFT = 32 - DIGIT_BITS;
/** Small allreduces. */
export const THRESHOLD_ROUNDS = 32 / DIGIT_BITS;
const MAGNITUDE = 0x7fff_ffff;
const INFINITE = 0x7f80_0000;
const OPERATIONS = new Array<'sum'>(DIGITS + 1).fill('sum');

/** The smallest positive f32: all but zeros reach it. */
export const LEAST = ofBits(1);

/**
 * Agrees on a threshold, the same on all ranks; `LEAST` if at most k entries are not 0.
 * @param values of this rank's part
 * @param sent entries that this rank sent
 */
export async function globalThreshold(
  communicator: Communicator,
  values: Vector,
  sent: number,
): Promise<number> {
  const { arena, size } = communicator;
  const bits = arena.u32(values.offset, values.length);
  const numbers = new Float64Array(DIGITS + 1);
  let prefix = 0;
  /** Number of the k that are still to be found below the prefix. */
  let left = 0;
  for (let shift = FIRST_SHIFT; shift >= 0; shift -= DIGIT_BITS) {
    numbers.fill(0);
    numbers[DIGITS] = sent;
    communicator.reduce(() => {
      count(bits, prefix, shift, numbers);
    });
    const all = await smallAllreduce(communicator, numbers, OPERATIONS);
    if (shift === FIRST_SHIFT) left = Math.ceil(all[DIGITS]! / size);
    let digit = DIGITS - 1;
    while (digit >= 0 && all[digit]! < left) left -= all[digit--]!;
    if (left === 0 || digit < 0) return LEAST;
    prefix = prefix * DIGITS + digit;
  }
  return ofBits(prefix);
}

/** Counts the magnitudes that begin with the prefix by their next digit. */
function count(
  bits: Uint32Array,
  prefix: number,
  shift: number,
  counts: Float64Array,
): void {
  for (let i = 0; i < bits.length; i++) {
    const magnitude = bits[i]! & MAGNITUDE;
    const begins = magnitude >>> shift;
    if (begins >>> DIGIT_BITS === prefix && magnitude !== 0) {
      counts[begins & (DIGITS - 1)]!++;
    }
  }
}

function ofBits(bits: number): number {
  const word = Uint32Array.of(Math.min(Math.max(bits, 1), INFINITE));
  return new Float32Array(word.buffer)[0]!;
}
