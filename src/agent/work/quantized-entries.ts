/**
 * The payload of entries with quantised values: a part of `Work`, with its promises. For k
 * entries, with values in runs of d:
 *
 *     u32       k
 *     indices   k × u32, ascending
 *     scales    ⌈k/d⌉ × f32, finite, ≥ 0: the largest magnitude of the run
 *     codes     k packed codes of b bits, padded to whole words of 4 bytes
 *
 * with codes as of `kernels/quantization.ts`.
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 6 and 8.
 */
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
} from '../kernels/quantization.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { Entries } from './selection.ts';
import type { Answer } from './steps.ts';

export interface EntryCoder<V> {
  /**
   * The payload of entries, in the arena until the next call; their values become those
   * that the payload represents.
   */
  encode(entries: Entries<V>, noise: RandomStream): Answer<Region>;
  /** out ← out + the `count` entries of a checked payload. */
  addTo(out: V, data: Region, count: number): void;
}

export interface QuantizedFields {
  readonly indices: Vector;
  readonly scales: Vector;
  readonly codes: Region;
}

export function quantizedBytes(
  count: number,
  { levels, runLength }: Quantizer,
): number {
  const scales = 4 * runsOf(count, runLength);
  return 4 + 4 * count + scales + packedBytes(count, codeBits(levels));
}

/** Positions of the parts of a payload of this many entries. */
export function quantizedFields(
  offset: number,
  count: number,
  { levels, runLength }: Quantizer,
): QuantizedFields {
  const runs = runsOf(count, runLength);
  const scales = { offset: offset + 4 + 4 * count, length: runs };
  return {
    indices: { offset: offset + 4, length: count },
    scales,
    codes: {
      offset: scales.offset + 4 * runs,
      bytes: packedBytes(count, codeBits(levels)),
    },
  };
}
