/**
 * Interface of the codecs that pass a matrix of activations over a boundary between two stages, and
 * its gradient back. Each of the two ranks has its own codec, which remembers what a micro-batch's
 * backward pass needs. A new method is one file with this interface and one line in
 * activation-codecs.ts.
 */
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { MatrixShape } from './stage-setting.ts';

export interface CodecOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly shape: MatrixShape;
  readonly microBatches: number;
  /** Fraction of the values to leave out, 0 … 1. */
  readonly sparsity: number;
  /** Seed, the same on both ranks. */
  readonly seed: number;
}

interface CodecCall {
  readonly microBatch: number;
  readonly iteration: number;
}

export interface DirectedCodec {
  /** Bytes of a payload, a fixed number. */
  readonly payloadBytes: number;
  /** @param values finite */
  encode(values: Vector, payload: Region, call: CodecCall): void;
  decode(payload: Region, values: Vector, call: CodecCall): void;
}

export interface ActivationCodec extends Disposable {
  readonly forward: DirectedCodec;
  readonly backward: DirectedCodec;
  /** State kept between iterations. */
  readonly kept: readonly Vector[];
}

export const elements = ({ rows, width }: MatrixShape): number => rows * width;

/** Sends everything unchanged. */
export function wholeValues({
  kernels,
  shape,
}: Pick<CodecOptions, 'kernels' | 'shape'>): DirectedCodec {
  const length = elements(shape);
  return {
    payloadBytes: 4 * length,
    encode: (values, payload) => {
      kernels.copy({ offset: payload.offset, length }, values);
    },
    decode: (payload, values) => {
      kernels.copy(values, { offset: payload.offset, length });
    },
  };
}
