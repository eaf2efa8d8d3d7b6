/**
 * DCT for model parallelism: the k units of largest magnitude of each row pass, with k = (1 −
 * η)·width for a sparsity η, rounded, at least 1; ties go to the lower index. Backward, the
 * gradient of the same units passes; both ranks know them, so no indices are sent. There is no
 * residual, so the trained network has one more layer, which passes only the largest units.
 *
 * A forward payload is the values, then their units in the shorter form: a bit for each
 * unit, or the index of each value in 16 or 32 bits.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), algorithm 2. Its
 * thresholds are found in every iteration.
 */
import { valuesSent } from '../../shared/plan/activation-plan.ts';
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { ActivationCodec, CodecOptions } from './activation-codec.ts';

export function dctMp(options: CodecOptions): ActivationCodec {
  const { arena, kernels, microBatches, shape, sparsity } = options;
  const { rows, width } = shape;
  const perRow = valuesSent(width, sparsity);
  const count = rows * perRow;
  const units = unitsForm(width, perRow);
  // For each micro-batch the indices in the matrix, then values.
  const streams = Array.from({ length: microBatches }, () =>
    arena.allocate(sparseBytes(count)),
  );
  const streamOf = (microBatch: number) => {
    const { offset } = streams[microBatch]!;
    return { offset, count };
  };
  const valuesOf = (offset: number) => ({ offset, length: count });
  const restore = (payload: Region, microBatch: number, out: Vector) => {
    const stream = streamOf(microBatch);
    kernels.copy(valuesOf(stream.offset + 4 * count), valuesOf(payload.offset));
    kernels.fill(out, 0);
    kernels.scatterAdd(out, stream, 1);
  };
  return {
    forward: {
      payloadBytes: 4 * count + units.bytes(rows),
      encode(values, payload, { microBatch }) {
        const { offset } = kernels.sparsification.selectTopKPerRun(
          values,
          ...[width, perRow, 0, streams[microBatch]!],
        );
        kernels.copy(valuesOf(payload.offset), valuesOf(offset + 4 * count));
        const bytes = arena.u8(payload.offset + 4 * count, units.bytes(rows));
        units.write(arena.u32(offset, count), bytes);
      },
      decode(payload, values, { microBatch }) {
        const bytes = arena.u8(payload.offset + 4 * count, units.bytes(rows));
        units.read(bytes, arena.u32(streamOf(microBatch).offset, count));
        restore(payload, microBatch, values);
      },
    },
    backward: {
      payloadBytes: 4 * count,
      encode(values, payload, { microBatch }) {
        const out = valuesOf(payload.offset);
        kernels.sparsification.gatherAt(values, streamOf(microBatch), out);
      },
      decode(payload, values, { microBatch }) {
        restore(payload, microBatch, values);
      },
    },
    kept: [],
    [Symbol.dispose]() {
      for (const stream of streams) arena.release(stream);
    },
  };
}

interface UnitsForm {
  bytes(rows: number): number;
  /** @param indices in the matrix, ascending */
  write(indices: Uint32Array, out: Uint8Array): void;
  read(bytes: Uint8Array, out: Uint32Array): void;
}

function unitsForm(width: number, perRow: number): UnitsForm {
  const indexBytes = width <= 2 ** 16 ? 2 : 4;
  const bitmapBytes = Math.ceil(width / 8);
  return bitmapBytes <= indexBytes * perRow
    ? bitmap(width, perRow, bitmapBytes)
    : unitIndices(width, perRow, indexBytes);
}

function bitmap(width: number, perRow: number, rowBytes: number): UnitsForm {
  return {
    bytes: (rows) => rows * rowBytes,
    write(indices, out) {
      out.fill(0);
      for (let i = 0; i < indices.length; i++) {
        const row = Math.floor(i / perRow);
        const unit = indices[i]! - row * width;
        out[row * rowBytes + (unit >>> 3)]! |= 1 << (unit & 7);
      }
    },
    read(bytes, out) {
      let next = 0;
      for (let at = 0; at < bytes.length; at++) {
        const row = Math.floor(at / rowBytes);
        const first = row * width + 8 * (at - row * rowBytes);
        for (let bits = bytes[at]!; bits !== 0; bits &= bits - 1) {
          out[next++] = first + 31 - Math.clz32(bits & -bits);
        }
      }
    },
  };
}

/** Little-endian. */
function unitIndices(width: number, perRow: number, indexBytes: 2 | 4): UnitsForm {
  return {
    bytes: (rows) => rows * perRow * indexBytes,
    write(indices, out) {
      for (let i = 0; i < indices.length; i++) {
        const unit = indices[i]! - Math.floor(i / perRow) * width;
        for (let byte = 0; byte < indexBytes; byte++) {
          out[i * indexBytes + byte] = unit >>> (8 * byte);
        }
      }
    },
    read(bytes, out) {
      for (let i = 0; i < out.length; i++) {
        let unit = 0;
        for (let byte = indexBytes - 1; byte >= 0; byte--) {
          unit = unit * 256 + bytes[i * indexBytes + byte]!;
        }
        out[i] = Math.floor(i / perRow) * width + unit;
      }
    },
  };
}
