/**
 * Decoded values that are added to a vector a chunk after the other: for decoders that write
 * values and add none. The chunk stays in the cache, where adding costs little.
 */
import type { Vector } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';

/** Elements of a chunk: whole blocks of any coding. */
const CHUNK = 65_536;

/**
 * out ← out + the values that `decode` writes.
 * @param decode writes the values of these elements, of which the first has this index
 */
export function addInChunks(
  communicator: Communicator,
  out: Vector,
  decode: (start: number, values: Vector) => void,
): void {
  const { operation, reduction } = communicator;
  const bytes = 4 * Math.min(CHUNK, out.length);
  const { offset } = communicator.scratch('decoded chunk', bytes);
  for (let start = 0; start < out.length; start += CHUNK) {
    const values = { offset, length: Math.min(CHUNK, out.length - start) };
    decode(start, values);
    const { length } = values;
    reduction.combine(operation, { offset: out.offset + 4 * start, length }, values);
  }
}
