/**
 * The interface between a compression method and a collective: the payload of one rank,
 * and the combined payloads of all.
 */
import type { Region } from './arena.ts';
import type { SparseStream } from './entries.ts';
import { valueBytesOf, type HalfType, type ValueBytes } from './value-type.ts';

/** A payload: `data` is exactly the bytes to send, `length` is n. */
export type Payload =
  | {
      readonly kind: 'dense';
      readonly length: number;
      readonly data: Region;
      /**
       * Whether the average over the ranks is wanted, of f32: a collective whose ranks complete a part
       * each may divide that, instead of each rank all of it.
       */
      readonly averages?: true | undefined;
      /** Type of the elements; default: f32. Of 16 bits, they can only be summed. */
      readonly values?: HalfType | undefined;
    }
  | { readonly kind: 'scalars'; readonly length: number; readonly data: Region }
  | {
      /** `count` u32 indices, ascending, then `count` f32 values. */
      readonly kind: 'sparse';
      readonly length: number;
      readonly count: number;
      readonly data: Region;
    }
  | { readonly kind: 'quantized'; readonly length: number; readonly data: Region };

/**
 * The result that a collective made of the payloads of all ranks: their elementwise sum (dense or
 * sparse, sums of scalars are dense), or all of them in rank order. A sparse sum may lie in several
 * streams: to copy them together would cost as much as to send them.
 */
export type Combined =
  | {
      readonly form: 'dense';
      readonly data: Region;
      /** Whether it has been divided by the number of ranks, as the payload asked. */
      readonly averaged?: true | undefined;
    }
  | {
      readonly form: 'sparse';
      readonly count: number;
      readonly data: Region;
      /**
       * Whether entries were left out of the sum, the same on all ranks: a rank keeps
       * those of its payload that are missing here.
       */
      readonly partial?: true | undefined;
    }
  | {
      readonly form: 'streams';
      /** Entries of all streams together. */
      readonly count: number;
      /** Streams, each of a range of indices behind the one before. */
      readonly streams: readonly SparseStream[];
    }
  | { readonly form: 'gathered'; readonly payloads: readonly Payload[] };

/** Bytes of an element of a dense payload of other than f32; else undefined. */
export const valueBytesIn = (payload: Payload): ValueBytes | undefined =>
  payload.kind === 'dense' && payload.values !== undefined
    ? valueBytesOf(payload.values)
    : undefined;

/** A sparse sum's streams, of one or several. */
export const sparseStreams = (
  combined: Extract<Combined, { readonly form: 'sparse' | 'streams' }>,
): readonly SparseStream[] =>
  combined.form === 'streams'
    ? combined.streams
    : [{ offset: combined.data.offset, count: combined.count }];

/** The combined result in a world of one rank. */
export function combinedAlone(payload: Payload): Combined {
  const { kind, data } = payload;
  switch (kind) {
    case 'dense':
      return { form: 'dense', data };
    case 'sparse':
      return { form: 'sparse', count: payload.count, data };
    case 'quantized':
    case 'scalars':
      return { form: 'gathered', payloads: [payload] };
    default:
      return kind satisfies never;
  }
}
