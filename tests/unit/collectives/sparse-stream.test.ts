/** Sparse streams by themselves: split, on the wire and back, merged and put together. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { partRange, partRanges } from '../../../src/agent/collectives/partition.ts';
import {
  assembled,
  inOneStream,
  merged,
  mergedTree,
  unframed,
  framed,
  split,
  streamBytes,
  type Stream,
} from '../../../src/agent/collectives/sparse-stream.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';

const arena = new Arena();
const kernels = referenceKernels(arena);
const transport = await connectMesh({
  rank: 0,
  addresses: [{ host: '127.0.0.1', port: 1 }],
  runId: 'alone',
  secret: new Uint8Array(32),
  timeoutMs: 1000,
});
let communicator: TransportCommunicator;
beforeEach(() => {
  communicator = new TransportCommunicator({ arena, kernels, transport, stream: 1 });
});

const payloadOf = (
  length: number,
  indices: readonly number[],
): Payload & { kind: 'sparse' } => {
  const count = indices.length;
  const data = arena.allocate(8 * count);
  arena.u32(data.offset, count).set(indices);
  arena
    .f32({ offset: data.offset + 4 * count, length: count })
    .set(indices.map((i) => i + 1));
  return { kind: 'sparse', length, count, data };
};

function pairsOf(stream: Stream): [number, number][] {
  const { form, offset, start, length } = stream;
  if (form === 'dense') {
    const values = arena.f32({ offset, length });
    return Array.from(values, (value, i): [number, number] => [
      start + i,
      value,
    ]).filter(([, value]) => value !== 0);
  }
  const { count } = stream;
  const values = arena.f32({ offset: offset + 4 * count, length: count });
  return Array.from(arena.u32(offset, count), (index, i) => [index, values[i]!]);
}

const shapes = fc
  .nat(60)
  .chain((length) =>
    fc.tuple(
      fc.constant(length),
      fc.integer({ min: 1, max: 9 }),
      fc.uniqueArray(fc.nat(Math.max(0, length - 1)), { maxLength: length }),
    ),
  );

test('what is split, sent, unframed and put together is what it was', () => {
  fc.assert(
    fc.property(shapes, ([length, ranges, unordered]) => {
      const indices = length === 0 ? [] : unordered.toSorted((a, b) => a - b);
      const streams = split(
        communicator,
        payloadOf(length, indices),
        partRanges(length, ranges),
      );
      expect(streams.flatMap(pairsOf)).toEqual(indices.map((i) => [i, i + 1]));
      const arrived = streams.map((stream, index) => {
        const range = partRange(length, ranges, index);
        const region = framed(communicator, stream);
        const count = pairsOf(stream).length;
        expect(stream.form).toBe(
          range.length > 0 && count >= range.length / 2 ? 'dense' : 'sparse',
        );
        expect(region.bytes).toBe(streamBytes(count, range.length, communicator));
        return unframed(communicator, region, range, 1);
      });
      expect(arrived).toEqual(streams);
      const parts = assembled(communicator, arrived);
      expect(parts.form).not.toBe('sparse');
      const whole = inOneStream(communicator, parts);
      const dense = arrived.some(({ form }) => form === 'dense');
      expect(whole.form).toBe(
        dense || (length > 0 && indices.length >= length / 2) ? 'dense' : 'sparse',
      );
      const result = new Float32Array(length);
      if (!('data' in whole)) throw new Error(`it is ${whole.form}`);
      if (whole.form === 'dense') result.set(arena.f32({ ...whole.data, length }));
      else {
        const { offset } = whole.data;
        const values = arena.f32({
          offset: offset + 4 * whole.count,
          length: whole.count,
        });
        arena.u32(offset, whole.count).forEach((index, i) => {
          result[index] = values[i]!;
        });
      }
      const expected = new Float32Array(length);
      for (const index of indices) expected[index] = index + 1;
      expect(result).toEqual(expected);
    }),
  );
});

test('a tree of one, two, … streams is their sum, in any mixture of forms', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.nat(19), { maxLength: 20 }), {
        minLength: 1,
        maxLength: 9,
      }),
      (all) => {
        const streams = all.map((indices) => {
          const payload = payloadOf(
            20,
            indices.toSorted((a, b) => a - b),
          );
          // Each in memory of its own: scratch is the next one's.
          const own = new TransportCommunicator({
            arena,
            kernels,
            transport,
            stream: 2,
          });
          return split(own, payload, partRanges(payload.length, 1))[0]!;
        });
        const expected = new Map<number, number>();
        for (const index of all.flat().toSorted((a, b) => a - b)) {
          expected.set(index, (expected.get(index) ?? 0) + index + 1);
        }
        expect(pairsOf(mergedTree(communicator, streams))).toEqual([...expected]);
      },
    ),
  );
});

test.each([
  ['sparse', 24, 25],
  ['dense', 25, 25],
])('two streams become %s with %d + %d entries of 100', (form, a, b) => {
  const first = (count: number) => Array.from({ length: count }, (_, i) => i);
  const [left] = split(communicator, payloadOf(100, first(a)), partRanges(100, 1));
  const other = new TransportCommunicator({ arena, kernels, transport, stream: 2 });
  const [right] = split(other, payloadOf(100, first(b)), partRanges(100, 1));
  const out = arena.allocate(1000);
  const sum = merged(communicator, left!, right!, out.offset);
  expect(sum.form).toBe(form);
  expect(pairsOf(sum)).toHaveLength(25);
});

describe('with a δ of its own', () => {
  const range = { start: 0, length: 100 };
  const first = (count: number) => Array.from({ length: count }, (_, i) => i);
  const exchange = (delta: number | undefined, stream = 1) =>
    new TransportCommunicator({ arena, kernels, transport, stream }).begin({
      epoch: 0,
      operation: 1,
      dtype: 1,
      delta,
    });

  test.each([
    [0.01, 1],
    [0.2, 20],
    [0.205, 21],
    [0.5, 50],
    [undefined, 50],
    // Beyond N/2 a stream would be longer than its elements.
    [0.9, 50],
  ])('δ/N = %d: a stream of 100 turns dense at %d entries', (delta, at) => {
    for (const count of [at - 1, at]) {
      const form = count < at ? 'sparse' : 'dense';
      const bytes = 8 + (count < at ? 8 * count : 400);
      const whole = exchange(delta);
      expect(streamBytes(count, 100, whole)).toBe(bytes);
      const [alone] = split(whole, payloadOf(100, first(count)), [range]);
      expect(alone!.form).toBe(form);
      expect(framed(whole, alone!).bytes).toBe(bytes);
      // Of half the entries each, which overlap: their sum counts, not their union.
      const half = Math.ceil(count / 2);
      const [left] = split(exchange(delta, 2), payloadOf(100, first(half)), [range]);
      const [right] = split(exchange(delta, 3), payloadOf(100, first(count - half)), [
        range,
      ]);
      const sum = merged(whole, left!, right!, arena.allocate(1000).offset);
      expect(sum.form).toBe(form);
      expect(pairsOf(sum)).toHaveLength(half);
    }
  });

  test('a peer’s stream that reaches it is refused, and its elements are not', () => {
    const sender = exchange(undefined);
    const receiver = exchange(0.2, 2);
    const sent = (count: number) => {
      const [stream] = split(sender, payloadOf(100, first(count)), [range]);
      return framed(sender, stream!);
    };
    expect(unframed(receiver, sent(19), range, 3)).toMatchObject({ count: 19 });
    expect(() => unframed(receiver, sent(20), range, 3)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_INVALID', rank: 3 }),
    );
    expect(unframed(sender, sent(20), range, 3)).toMatchObject({ count: 20 });
    expect(unframed(receiver, sent(50), range, 3)).toMatchObject({ form: 'dense' });
  });

  test('a −0 of one stream alone stays in pairs and is 0 in elements', () => {
    const minus = (stream: number, delta: number | undefined) => {
      const payload = payloadOf(100, [stream]);
      arena.u32(payload.data.offset + 4, 1)[0] = 0x8000_0000;
      return split(exchange(delta, stream), payload, [range])[0]!;
    };
    const zeros = (delta: number | undefined) => {
      const out = arena.allocate(1000).offset;
      const sum = merged(exchange(delta), minus(2, delta), minus(3, delta), out);
      const count = sum.form === 'sparse' ? sum.count : 4;
      const at = sum.form === 'sparse' ? sum.offset + 4 * count : sum.offset;
      return [sum.form, ...arena.f32({ offset: at, length: count })];
    };
    expect(zeros(undefined)).toEqual(['sparse', -0, -0]);
    expect(zeros(0.02)).toEqual(['dense', 0, 0, 0, 0]);
  });
});

describe('a stream that nobody would send is refused', () => {
  const range = { start: 10, length: 20 };
  const words = (...values: number[]) => {
    const region = arena.allocate(4 * values.length);
    arena.u32(region.offset, values.length).set(values);
    return { offset: region.offset, bytes: 4 * values.length };
  };

  test.each([
    ['no header', [0]],
    ['a form that is none', [2, 0]],
    ['fewer entries than it says', [0, 2, 11, 12, 0]],
    ['more bytes than it says', [0, 1, 11, 0, 0, 0]],
    ['an index below its range', [0, 1, 9, 0]],
    ['an index above its range', [0, 1, 30, 0]],
    ['an index twice', [0, 2, 11, 11, 0, 0]],
    ['descending indices', [0, 2, 12, 11, 0, 0]],
    ['pairs beyond δ', [0, 10, ...Array.from({ length: 20 }, (_, i) => 10 + (i % 10))]],
    ['a dense body of another length', [1, 19, ...Array<number>(19).fill(0)]],
    ['an absurd count', [0, 0xffffffff, 0, 0]],
  ])('%s', (_, values) => {
    expect(() => unframed(communicator, words(...values), range, 3)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_INVALID', rank: 3 }),
    );
  });

  test('but these are not', () => {
    expect(unframed(communicator, words(0, 0), range, 3)).toMatchObject({ count: 0 });
    expect(unframed(communicator, words(0, 1, 29, 0), range, 3)).toMatchObject({
      count: 1,
    });
    const dense = words(1, 20, ...Array<number>(20).fill(0));
    expect(unframed(communicator, dense, range, 3)).toMatchObject({ form: 'dense' });
    const longer = words(0, 0, 1, 1);
    expect(unframed(communicator, longer, range, 3, true)).toMatchObject({ count: 0 });
  });
});
