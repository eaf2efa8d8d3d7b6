/**
 * A codec for the units of a matrix that belong to no skip connection; those of the skip connection pass whole, in
 * front of its payload. Source: "Training recommender systems at scale" (Gupta et al., 2021), section 3.2, which
 * leaves out units behind the ReLU of a feed-forward network, and nothing of what passes it.
 */
import type { Region, Vector } from '../memory/arena.ts';
import {
  elements,
  type ActivationCodec,
  type CodecOptions,
  type DirectedCodec,
} from './activation-codec.ts';

/** @param open the codec of the units */
export function besideSkip(
  open: (options: CodecOptions) => ActivationCodec,
  options: CodecOptions,
): ActivationCodec {
  const { arena, shape } = options;
  const { rows, skip = 0, width } = shape;
  if (skip === 0) return open(options);
  const own = { rows, width: width - skip };
  const codec = open({ ...options, shape: own });
  const units = arena.allocateVector(elements(own));
  const skipBytes = 4 * rows * skip;
  /** Goes through the rows: those of the matrix, of the units, and of the skip connection in a payload. */
  const eachRow = (
    values: Vector,
    { offset }: Region,
    copy: (row: Float32Array, units: Float32Array, skip: Float32Array) => void,
  ): void => {
    const matrix = arena.f32(values);
    const left = arena.f32(units);
    const right = arena.f32({ offset, length: rows * skip });
    for (let row = 0; row < rows; row++) {
      copy(
        matrix.subarray(row * width, (row + 1) * width),
        left.subarray(row * own.width, (row + 1) * own.width),
        right.subarray(row * skip, (row + 1) * skip),
      );
    }
  };
  const beside = (ofUnits: DirectedCodec): DirectedCodec => {
    const { payloadBytes } = ofUnits;
    const behind = ({ offset }: Region): Region => ({
      offset: offset + skipBytes,
      bytes: payloadBytes,
    });
    return {
      payloadBytes: skipBytes + payloadBytes,
      encode(values, payload, call) {
        eachRow(values, payload, (row, left, right) => {
          left.set(row.subarray(0, own.width));
          right.set(row.subarray(own.width));
        });
        ofUnits.encode(units, behind(payload), call);
      },
      decode(payload, values, call) {
        ofUnits.decode(behind(payload), units, call);
        eachRow(values, payload, (row, left, right) => {
          row.set(left);
          row.set(right, own.width);
        });
      },
    };
  };
  return {
    forward: beside(codec.forward),
    backward: beside(codec.backward),
    kept: codec.kept,
    [Symbol.dispose]() {
      codec[Symbol.dispose]();
      arena.release(units);
    },
  };
}
