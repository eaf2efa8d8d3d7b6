/** A way to send the parts of a vector in fewer bits than an f32 has. */
import type { Region, Vector } from '../memory/arena.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { Communicator } from './collective.ts';

export interface PartCoding {
  /** The cost of quantising and of decoding an element, in units of γ. */
  readonly quantizeCost: number;
  readonly dequantizeCost: number;
  /** Bytes of a part of this many elements. */
  bytes(length: number): number;
  /** Writes the codes of x, exactly `bytes(x.length)`; what is rounded at random takes the noise. */
  quantize(
    communicator: Communicator,
    x: Vector,
    noise: RandomStream,
    out: Region,
  ): void;
  /**
   * out ← the values of the codes that `peer` sent, or out + these values.
   * @throws GradwireError `PAYLOAD_INVALID`
   */
  dequantize(
    communicator: Communicator,
    data: Region,
    out: Vector,
    add: boolean,
    peer: number,
  ): void;
}

/** The next step of whoever has values that no code stands for. */
export const ONLY_FINITE =
  'Only finite values can be quantised. Without quantisation, the sum would show the NaN or infinity.';
