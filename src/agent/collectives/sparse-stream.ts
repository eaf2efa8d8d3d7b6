/**
 * Sparse streams in flight: one rank's contribution to a range of the vector, as pairs
 * while that is shorter, as a dense run of elements once it is not. They are merged,
 * split by range of indices and concatenated here; small values are never dropped, and
 * entries that cancel to 0 stay entries.
 *
 * On the wire a stream is a header of 8 bytes (u32 form: 0 sparse, 1 dense; u32 entries)
 * and its body: indices, ascending, then values; or all elements of the range. Indices
 * count from the start of the whole vector. In memory every stream has its header's room
 * in front of the body, so that it can be sent from where it lies.
 *
 * δ = N/2 for u32 indices and f32 values: where |H₁| + |H₂| ≥ δ, an upper bound of the
 * union, the result is dense. Both sides of a swap see the same counts and take the same
 * branch.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.1.
 */
import { failure, type GradwireError } from '../../shared/errors.ts';
import type { Combined, Payload } from '../compression/method.ts';
import type { Region } from '../kernels/arena.ts';
import { sparseBytes } from '../kernels/kernels.ts';
import type { Communicator } from './collective.ts';
import { part } from './partition.ts';

export const STREAM_HEADER_BYTES = 8;
const SPARSE = 0;
const DENSE = 1;

/** Elements [start, start + length) of the vector. */
export interface ElementRange {
  readonly start: number;
  readonly length: number;
}

/** `offset` is the body's; the header's room lies before it. */
export type Stream =
  | (ElementRange & {
      readonly form: 'sparse';
      readonly offset: number;
      readonly count: number;
    })
  | (ElementRange & { readonly form: 'dense'; readonly offset: number });

/** Whether that many entries of a range of `length` reach δ. */
export const reachesDelta = (entries: number, length: number): boolean =>
  length > 0 && 2 * entries >= length;

/** Bytes of a stream of so many entries on the wire, its header included. */
export const streamBytes = (entries: number, length: number): number =>
  STREAM_HEADER_BYTES +
  (reachesDelta(entries, length) ? 4 * length : sparseBytes(entries));

/** No stream of the range is larger. */
export const streamCapacity = (length: number): number =>
  STREAM_HEADER_BYTES + 4 * length;

/** Part `index` of `parts` of a vector of `length` elements. */
export function partRange(length: number, parts: number, index: number): ElementRange {
  const { offset, length: size } = part({ offset: 0, length }, parts, index);
  return { start: offset / 4, length: size };
}

/** What the stream takes, its header included. */
export function sealedBytes(stream: Stream): number {
  const { form, length } = stream;
  const body = form === 'sparse' ? sparseBytes(stream.count) : 4 * length;
  return STREAM_HEADER_BYTES + body;
}

/** The stream as it travels: writes the header into its room. */
export function sealed(communicator: Communicator, stream: Stream): Region {
  const { form, offset, length } = stream;
  const start = offset - STREAM_HEADER_BYTES;
  const entries = form === 'sparse' ? stream.count : length;
  communicator.arena.u32(start, 2).set([form === 'sparse' ? SPARSE : DENSE, entries]);
  return { offset: start, bytes: sealedBytes(stream) };
}

/**
 * The stream that begins at `region.offset`, of at most `region.bytes`, as `peer` sent
 * it; with `trailing`, others may follow it.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function opened(
  communicator: Communicator,
  region: Region,
  range: ElementRange,
  peer: number,
  trailing = false,
): Stream {
  const { arena, kernels } = communicator;
  if (region.bytes < STREAM_HEADER_BYTES) {
    throw invalid(peer, `a stream of ${region.bytes} bytes`);
  }
  const [form, entries] = arena.u32(region.offset, 2) as unknown as [number, number];
  const offset = region.offset + STREAM_HEADER_BYTES;
  const room = region.bytes - STREAM_HEADER_BYTES;
  const body = form === SPARSE ? sparseBytes(entries) : 4 * entries;
  if (body > room || (!trailing && body < room)) {
    throw invalid(peer, `a stream of ${entries} entries in ${room} bytes`);
  }
  const { start, length } = range;
  if (form === DENSE && entries === length) {
    return { form: 'dense', offset, start, length };
  }
  if (form !== SPARSE || reachesDelta(entries, length)) {
    throw invalid(
      peer,
      `a stream of form ${form} and ${entries} entries for ${length} elements`,
    );
  }
  const stream = { offset, count: entries };
  const bad = kernels.reduction.firstDisordered(stream, start, start + length);
  if (bad >= 0) {
    const index = arena.u32(offset, entries)[bad]!;
    throw invalid(peer, `index ${index} at place ${bad} of elements from ${start} on`);
  }
  return { form: 'sparse', ...stream, start, length };
}

/**
 * The payload as streams of `parts` ranges, each dense where it reaches δ; they lie one
 * after the other in scratch. O(k) and, where dense, O(N).
 */
export function split(
  communicator: Communicator,
  payload: Payload,
  parts: number,
): readonly Stream[] {
  if (payload.kind !== 'sparse') {
    throw new Error(`internal: a ${payload.kind} payload is no sparse stream`);
  }
  const { length, count } = payload;
  const stream = { offset: payload.data.offset, count };
  const { reduction } = communicator.kernels;
  const ranges = Array.from({ length: parts }, (_, index) =>
    partRange(length, parts, index),
  );
  const bounds = ranges.map(({ start }) => reduction.firstAtLeast(stream, start));
  bounds.push(count);
  const bytesOf = (index: number): number =>
    streamBytes(bounds[index + 1]! - bounds[index]!, ranges[index]!.length);
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
  const { arena, kernels, operation } = communicator;
  const count = to - from;
  const indices = arena.u32(source.offset + 4 * from, count);
  const values = arena.u32(source.offset + 4 * (source.count + from), count);
  if (!reachesDelta(count, range.length)) {
    arena.u32(offset, count).set(indices);
    arena.u32(offset + 4 * count, count).set(values);
    return { form: 'sparse', offset, count, ...range };
  }
  kernels.reduction.clear(operation, { offset, length: range.length });
  const elements = arena.u32(offset, range.length);
  for (let entry = 0; entry < count; entry++) {
    elements[indices[entry]! - range.start] = values[entry]!;
  }
  return { form: 'dense', offset, ...range };
}

/** Bytes that `merged` needs at `out`; 0 where one of the two takes up the other. */
export function mergedBytes(a: Stream, b: Stream): number {
  if (a.form === 'dense' || b.form === 'dense') return 0;
  return streamBytes(a.count + b.count, a.length);
}

/**
 * Two contributions to one range as one. Lies in memory of `mergedBytes` at `out`, or,
 * where one is dense, in that one's place: both are used up.
 */
export function merged(
  communicator: Communicator,
  a: Stream,
  b: Stream,
  out: number,
): Stream {
  const { kernels, operation } = communicator;
  const { reduction } = kernels;
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
  if (reachesDelta(a.count + b.count, length)) {
    const dense = { form: 'dense', offset, start, length } as const;
    reduction.clear(operation, dense);
    reduction.scatter(operation, dense, start, a);
    reduction.scatter(operation, dense, start, b);
    return dense;
  }
  const bytes = sparseBytes(a.count + b.count);
  const { count } = reduction.merge(operation, a, b, { offset, bytes });
  return { form: 'sparse', offset, count, start, length };
}

/**
 * All contributions to one range as one, merged as a tree over their order: neighbours,
 * then their results. Uses them up.
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
      b === undefined ? 0 : mergedBytes(a, b);
    const total = pairs.reduce((sum, pair) => sum + bytesOf(pair), 0);
    // A level of its own each: what is dense stays where it became so.
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

/** Streams of disjoint, adjacent ranges from element 0 on as the whole result. */
export function concatenated(
  communicator: Communicator,
  streams: readonly Stream[],
): Combined {
  const { arena, kernels, operation } = communicator;
  const length = streams.reduce((sum, stream) => sum + stream.length, 0);
  let entries = 0;
  let dense = false;
  for (const stream of streams) {
    entries += stream.form === 'sparse' ? stream.count : stream.length;
    dense ||= stream.form === 'dense';
  }
  if (dense || reachesDelta(entries, length)) {
    const { offset } = communicator.scratch('concatenated', 4 * length);
    for (const stream of streams) {
      const { start } = stream;
      const out = { offset: offset + 4 * start, length: stream.length };
      if (stream.form === 'dense') kernels.copy(out, stream);
      else {
        kernels.reduction.clear(operation, out);
        kernels.reduction.scatter(operation, out, start, stream);
      }
    }
    return { form: 'dense', data: { offset, bytes: 4 * length } };
  }
  const bytes = sparseBytes(entries);
  const { offset } = communicator.scratch('concatenated', bytes);
  let at = 0;
  for (const stream of streams) {
    if (stream.form === 'dense') continue;
    const { count } = stream;
    const values = stream.offset + 4 * count;
    arena.u32(offset + 4 * at, count).set(arena.u32(stream.offset, count));
    arena.u32(offset + 4 * (entries + at), count).set(arena.u32(values, count));
    at += count;
  }
  return { form: 'sparse', count: entries, data: { offset, bytes } };
}

/** A stream of the whole vector as a result. */
export function asCombined(stream: Stream): Combined {
  const { form, offset, length } = stream;
  if (form === 'dense') return { form, data: { offset, bytes: 4 * length } };
  const { count } = stream;
  return { form, count, data: { offset, bytes: sparseBytes(count) } };
}

function invalid(peer: number, what: string): GradwireError {
  return failure('PAYLOAD_INVALID', `rank ${peer} sent ${what}`, {
    rank: peer,
    next: 'Deploy the same version of the agent on every node.',
  });
}
