/**
 * The sums of a bucket for the cost model: at first as the method's definition expects,
 * later as the ranks have seen.
 */
import { unionOf } from '../collectives/fill-in.ts';
import type { ExchangeShape } from '../collectives/collective.ts';
import type { ExpectedMessage } from '../methods/method.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Sums } from './exchange-observation.ts';

/**
 * Inputs for the cost of a message.
 * @param places the node of each rank; default: all are on one
 */
export function shapeOf(
  { kind, length, bytes, entries, valueBytes }: Omit<ExpectedMessage, 'operation'>,
  ranks: number,
  places?: readonly number[],
): ExchangeShape {
  return {
    ranks,
    ...(places === undefined ? {} : { places }),
    // Scalars represent a vector that is not sent.
    length: kind === 'scalars' ? bytes / 4 : length,
    payloadBytes: bytes,
    ...(kind === 'sparse' ? { nnz: entries } : {}),
    ...(valueBytes === undefined ? {} : { valueBytes }),
  };
}

export const bytesOf = (shapes: readonly ExchangeShape[]): number =>
  total(shapes, ({ payloadBytes }) => payloadBytes);

export const entriesOf = (shapes: readonly ExchangeShape[]): number =>
  total(shapes, ({ nnz = 0 }) => nnz);

/** K, of sparse sums. */
export const unionsOf = (shapes: readonly ExchangeShape[]): number =>
  total(shapes, (shape) => unionOf(shape, shape.ranks));

/** The shapes with the observed bytes and fill-in, distributed in proportion. */
export function asSeen(
  shapes: readonly ExchangeShape[],
  { bytes, nnzReduced }: Sums,
): readonly ExchangeShape[] {
  const before = bytesOf(shapes);
  return shapes.map((shape) => {
    const share = before === 0 ? 1 / shapes.length : shape.payloadBytes / before;
    if (shape.nnz === undefined) {
      const { valueBytes = 4 } = shape;
      const length = Math.round((share * bytes) / valueBytes);
      return { ...shape, length, payloadBytes: valueBytes * length };
    }
    const nnz = Math.round((share * bytes) / sparseBytes(1));
    return {
      ...shape,
      nnz,
      payloadBytes: sparseBytes(nnz),
      nnzReduced: nnzReduced === undefined ? undefined : share * nnzReduced,
    };
  });
}

const total = (
  shapes: readonly ExchangeShape[],
  of: (shape: ExchangeShape) => number,
): number => shapes.reduce((sum, shape) => sum + of(shape), 0);
