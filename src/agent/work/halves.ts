/** Payloads of dense vectors in 16 bits (`kernels/half-precision.ts`). */
import type { RandomStream } from '../kernels/random.ts';
import type { Region } from '../memory/arena.ts';
import type { Answer } from './steps.ts';

export interface HalfCoder<V> {
  /**
   * x · factor in 16 bits each, in the arena, valid until the next call.
   * @param noise names the random bits; default: round to nearest
   */
  encode(x: V, factor: number, noise?: RandomStream): Answer<Region>;
  /** out ← values of `data` */
  decode(data: Region, out: V): void;
}
