/**
 * Sparse streams in flight: one rank's contribution to a range of the vector, as pairs as
 * long as that is shorter, and as a dense run of elements otherwise. This file merges
 * streams, splits them by range of indices and joins them; small values are never
 * dropped, and entries that cancel to 0 stay entries.
 *
 * On the wire a stream is a header of 8 bytes (u32 form: 0 sparse, 1 dense; u32 entries)
 * and its body: indices, ascending, then values; or all elements of the range. Indices
 * count from the start of the whole vector. In memory every stream has room for its
 * header in front of the body, so that it can be sent without copying.
 *
 * If |H₁| + |H₂|, an upper bound of the union, reaches δ (`delta.ts`), the result is dense.
 * Both sides of a swap see the same counts and the same δ, and take the same branch. Either
 * form adds in the same order, so δ does not change the sums; only a −0 becomes 0 in a
 * dense stream.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.1.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type { Communicator } from './collective.ts';
import { reachesDelta, type StreamTerms } from './delta.ts';
import type { ElementRange } from './partition.ts';

export const STREAM_HEADER_BYTES = 8;
const SPARSE = 0;
const DENSE = 1;

/** `offset` is that of the body; the room for the header is before it. */
export type Stream =
  SparsePart | (ElementRange & { readonly form: 'dense'; readonly offset: number });

type SparsePart = ElementRange & SparseStream & { readonly form: 'sparse' };

/** Bytes on the wire of a stream of this many entries, its header included. */
export const streamBytes = (
  entries: number,
  length: number,
  terms: StreamTerms,
): number => {
  const { valueBytes = 4 } = terms;
  const body = reachesDelta(entries, length, terms)
    ? valueBytes * length
    : sparseBytes(entries, valueBytes);
  return STREAM_HEADER_BYTES + body;
};

/** The maximum size of a stream of the range. */
export const streamCapacity = (length: number, valueBytes: ValueBytes): number =>
  STREAM_HEADER_BYTES + valueBytes * length;

/** Bytes of the stream, its header included. */
export function framedBytes(stream: Stream, valueBytes: ValueBytes): number {
  const { form, length } = stream;
  const body =
    form === 'sparse' ? sparseBytes(stream.count, valueBytes) : valueBytes * length;
  return STREAM_HEADER_BYTES + body;
}

/** Writes the stream's header and returns the bytes to send. */
export function framed(communicator: Communicator, stream: Stream): Region {
  const { form, offset, length } = stream;
  const start = offset - STREAM_HEADER_BYTES;
  const entries = form === 'sparse' ? stream.count : length;
  const header = communicator.arena.u32(start, 2);
  header[0] = form === 'sparse' ? SPARSE : DENSE;
  header[1] = entries;
  return { offset: start, bytes: framedBytes(stream, communicator.valueBytes) };
}

/**
 * The stream that begins at `region.offset`, of at most `region.bytes`, as `peer` sent
 * it; with `trailing`, others may follow it.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function unframed(
  communicator: Communicator,
  region: Region,
  range: ElementRange,
  peer: number,
  trailing = false,
): Stream {
  const { arena, reduction, valueBytes } = communicator;
  const sender = communicator.worldRank(peer);
  if (region.bytes < STREAM_HEADER_BYTES) {
    throw invalidStream(
      sender,
      `a stream of ${region.bytes} bytes, shorter than its header`,
    );
  }
  const header = arena.u32(region.offset, 2);
  const form = header[0]!;
  const entries = header[1]!;
  const offset = region.offset + STREAM_HEADER_BYTES;
  const room = region.bytes - STREAM_HEADER_BYTES;
  const body =
    form === SPARSE ? sparseBytes(entries, valueBytes) : valueBytes * entries;
  if (body > room || (!trailing && body < room)) {
    throw invalidStream(
      sender,
      `a stream of ${entries} entries in ${room} bytes, where they take ${body}`,
    );
  }
  const { start, length } = range;
  if (form === DENSE && entries === length) {
    return { form: 'dense', offset, start, length };
  }
  if (form !== SPARSE || reachesDelta(entries, length, communicator)) {
    throw invalidStream(
      sender,
      `a stream of unknown form ${form}, or with ${entries} entries for ${length} elements`,
    );
  }
  const stream = { offset, count: entries };
  const bad = reduction.firstDisordered(stream, start, start + length);
  if (bad >= 0) {
    const index = arena.u32(offset, entries)[bad]!;
    throw invalidStream(
      sender,
      `index ${index} at position ${bad}, out of order or outside ${start} to ${start + length - 1}`,
    );
  }
  return { form: 'sparse', ...stream, start, length };
}

/**
 * The payload as streams of adjacent ranges of the whole vector, each dense if it reaches
 * δ, stored one after the other in scratch. O(k), or O(N) if dense.
 */
export function split(
  communicator: Communicator,
  payload: Payload,
  ranges: readonly ElementRange[],
): readonly Stream[] {
  if (payload.kind !== 'sparse') {
    throw new Error(`internal: a ${payload.kind} payload is no sparse stream`);
  }
  const { count } = payload;
  const stream = { offset: payload.data.offset, count };
  const { reduction } = communicator;
  const bounds = ranges.map(({ start }) => reduction.firstAtLeast(stream, start));
  bounds.push(count);
  const bytesOf = (index: number): number =>
    streamBytes(
      bounds[index + 1]! - bounds[index]!,
      ranges[index]!.length,
      communicator,
    );
  const total = ranges.reduce((sum, _, index) => sum + bytesOf(index), 0);
  let { offset } = communicator.scratch('split', total);
  return ranges.map((range, index) => {
    const at = offset + STREAM_HEADER_BYTES;
    offset += bytesOf(index);
    return pack(communicator, stream, range, bounds[index]!, bounds[index + 1]!, at);
  });
}

/** Entries [from, to) of a longer stream, copied to `offset`. */
function pack(
  communicator: Communicator,
  source: { readonly offset: number; readonly count: number },
  range: ElementRange,
  from: number,
  to: number,
  offset: number,
): Stream {
  const { arena, kernels, operation, reduction, valueBytes } = communicator;
  const count = to - from;
  /** Values are moved by words, of which an f64 has two. */
  const words = valueBytes / 4;
  const firstIndex = source.offset + 4 * from;
  const firstValue = source.offset + 4 * source.count + valueBytes * from;
  if (!reachesDelta(count, range.length, communicator)) {
    const move = (to: number, from: number, length: number): void => {
      kernels.copy({ offset: to, length }, { offset: from, length });
    };
    if (count === source.count) move(offset, firstIndex, (1 + words) * count);
    else {
      move(offset, firstIndex, count);
      move(offset + 4 * count, firstValue, words * count);
    }
    return { form: 'sparse', offset, count, ...range };
  }
  const indices = arena.u32(firstIndex, count);
  const values = arena.u32(firstValue, words * count);
  reduction.clear(operation, { offset, length: range.length });
  const elements = arena.u32(offset, words * range.length);
  for (let entry = 0; entry < count; entry++) {
    const at = words * (indices[entry]! - range.start);
    for (let word = 0; word < words; word++) {
      elements[at + word] = values[words * entry + word]!;
    }
  }
  return { form: 'dense', offset, ...range };
}

/** Bytes that `merged` needs at `out`; 0 if one stream is dense and absorbs the other. */
export function mergedBytes(a: Stream, b: Stream, terms: StreamTerms): number {
  if (a.form === 'dense' || b.form === 'dense') return 0;
  return streamBytes(a.count + b.count, a.length, terms);
}

/**
 * Merges two contributions to one range. The result is at `out`, in `mergedBytes` bytes,
 * or in place of a dense input. Both inputs are consumed.
 */
export function merged(
  communicator: Communicator,
  a: Stream,
  b: Stream,
  out: number,
): Stream {
  const { operation, reduction, valueBytes } = communicator;
  const { start, length } = a;
  if (a.form === 'dense') {
    if (b.form === 'dense') reduction.combine(operation, a, b);
    else reduction.scatter(operation, a, start, b);
    return a;
  }
  if (b.form === 'dense') {
    reduction.scatter(operation, b, start, a);
    return b;
  }
  const offset = out + STREAM_HEADER_BYTES;
  if (reachesDelta(a.count + b.count, length, communicator)) {
    const dense = { form: 'dense', offset, start, length } as const;
    reduction.clear(operation, dense);
    reduction.scatter(operation, dense, start, a);
    reduction.scatter(operation, dense, start, b);
    return dense;
  }
  const bytes = sparseBytes(a.count + b.count, valueBytes);
  const { count } = reduction.merge(operation, a, b, { offset, bytes });
  return { form: 'sparse', offset, count, start, length };
}

/**
 * Merges all contributions to one range pairwise, as a tree over their order. Consumes
 * them.
 */
export function mergedTree(
  communicator: Communicator,
  streams: readonly Stream[],
): Stream {
  let level = streams;
  for (let depth = 0; level.length > 1; depth++) {
    const pairs = level.flatMap((stream, index) =>
      index % 2 === 0 ? [[stream, level[index + 1]] as const] : [],
    );
    const bytesOf = ([a, b]: (typeof pairs)[number]): number =>
      b === undefined ? 0 : mergedBytes(a, b, communicator);
    const total = pairs.reduce((sum, pair) => sum + bytesOf(pair), 0);
    // Each level has its own scratch, since a dense stream stays where it was created.
    let { offset } = communicator.scratch(`merged ${depth}`, total);
    level = pairs.map((pair) => {
      const [a, b] = pair;
      const at = offset;
      offset += bytesOf(pair);
      return b === undefined ? a : merged(communicator, a, b, at);
    });
  }
  return level[0]!;
}

/**
 * The result from streams of adjacent ranges that cover the vector: left in place if all
 * are sparse, otherwise copied into one dense vector.
 */
export function assembled(
  communicator: Communicator,
  streams: readonly Stream[],
): Combined {
  const { kernels, operation, reduction, valueBytes } = communicator;
  const length = streams.reduce((sum, stream) => sum + stream.length, 0);
  const sparse = streams.filter(({ form }) => form === 'sparse') as SparsePart[];
  const count = sparse.reduce((sum, stream) => sum + stream.count, 0);
  if (sparse.length === streams.length && !reachesDelta(count, length, communicator)) {
    return { form: 'streams', count, streams: sparse };
  }
  const { offset } = communicator.scratch('assembled', valueBytes * length);
  for (const stream of streams) {
    const { start } = stream;
    const out = { offset: offset + valueBytes * start, length: stream.length };
    if (stream.form === 'dense') {
      // Values are moved by words, of which an f64 has two.
      const moved = (valueBytes / 4) * stream.length;
      kernels.copy({ ...out, length: moved }, { ...stream, length: moved });
    } else {
      reduction.clear(operation, out);
      reduction.scatter(operation, out, start, stream);
    }
  }
  return { form: 'dense', data: { offset, bytes: valueBytes * length } };
}

/**
 * Copies a sum that is in several streams into one, for callers that need one; returns
 * other sums unchanged.
 */
export function inOneStream(communicator: Communicator, combined: Combined): Combined {
  if (combined.form !== 'streams') return combined;
  const { arena, valueBytes } = communicator;
  const words = valueBytes / 4;
  const { count, streams } = combined;
  const bytes = sparseBytes(count, valueBytes);
  const { offset } = communicator.scratch('one stream', bytes);
  let at = 0;
  for (const stream of streams) {
    const values = arena.u32(stream.offset + 4 * stream.count, words * stream.count);
    arena
      .u32(offset + 4 * at, stream.count)
      .set(arena.u32(stream.offset, stream.count));
    arena.u32(offset + 4 * count + valueBytes * at, values.length).set(values);
    at += stream.count;
  }
  return { form: 'sparse', count, data: { offset, bytes } };
}

/** A stream of the whole vector as a result. */
export function asCombined(stream: Stream, valueBytes: ValueBytes): Combined {
  const { form, offset, length } = stream;
  if (form === 'dense') return { form, data: { offset, bytes: valueBytes * length } };
  const { count } = stream;
  return { form, count, data: { offset, bytes: sparseBytes(count, valueBytes) } };
}

/** The error for a peer's bytes that are not a stream, or not of this exchange. */
export function invalidStream(peer: number, what: string): GradwireError {
  return failure('PAYLOAD_INVALID', `rank ${peer} sent ${what}`, {
    rank: peer,
    next: 'Deploy the same version of the agent on every machine.',
  });
}
