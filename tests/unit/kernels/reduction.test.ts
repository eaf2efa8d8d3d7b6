/** The reduction kernels: each backend against the definition, bit for bit. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ABSENT_BITS,
  REDUCE_OPERATIONS,
  type ReduceOperation,
} from '../../../src/agent/kernels/reduction.ts';
import { backends, type Backend } from './backends.ts';

const apply: Record<ReduceOperation, (x: number, y: number) => number> = {
  sum: (x, y) => Math.fround(x + y),
  min: Math.min,
  max: Math.max,
  prod: (x, y) => Math.fround(x * y),
};

const value = fc.oneof(
  fc.float({ noNaN: true }),
  fc
    .constantFrom(0, -0, 1, Infinity, -Infinity, 1e-45, 1e-30, 1e30, -1e30)
    .map(Math.fround),
);
const entries = (length: number) =>
  fc.array(fc.option(value, { nil: undefined, freq: 3 }), {
    minLength: length,
    maxLength: length,
  });
type Entries = readonly (number | undefined)[];

const pairsOf = (all: Entries): [number, number][] =>
  all.flatMap((entry, index) =>
    entry === undefined ? [] : [[index, entry] as [number, number]],
  );

function combined(operation: ReduceOperation, a: Entries, b: Entries): Entries {
  return a.map((mine, index) => {
    const theirs = b[index];
    if (mine === undefined || theirs === undefined) return mine ?? theirs;
    return apply[operation](mine, theirs);
  });
}

/** Absent entries are 0 under a sum, whose neutral element is one of its values. */
function put(backend: Backend, operation: ReduceOperation, all: Entries) {
  const vector = backend.put(all.map((entry) => entry ?? 0));
  if (operation !== 'sum') {
    const bits = backend.arena.u32(vector.offset, vector.length);
    for (const [index, entry] of all.entries()) {
      if (entry === undefined) bits[index] = ABSENT_BITS;
    }
  }
  return vector;
}

function read(
  backend: Backend,
  operation: ReduceOperation,
  vector: { readonly offset: number; readonly length: number },
): Entries {
  const bits = backend.arena.u32(vector.offset, vector.length);
  return Array.from(backend.get(vector), (entry, index) =>
    operation !== 'sum' && bits[index] === ABSENT_BITS ? undefined : entry,
  );
}

/** 0 + −0 is 0: where both an absent and a −0 may stand, a sum cannot tell. */
const same = (operation: ReduceOperation, entry: number | undefined) =>
  operation === 'sum' ? (entry ?? 0) + 0 : entry;

describe.each(['reference', 'wasm'] as const)('%s', (name) => {
  const backend = backends[name]();
  const { reduction } = backend.kernels;
  const cases = fc
    .integer({ min: 0, max: 40 })
    .chain((length) => fc.tuple(entries(length), entries(length)));

  describe.each(REDUCE_OPERATIONS)('%s', (operation) => {
    test('combines, scatters and merges as defined, whichever comes first', () => {
      fc.assert(
        fc.property(cases, ([a, b]) => {
          const expected = combined(operation, a, b);
          const out = put(backend, operation, a);
          reduction.combine(operation, out, put(backend, operation, b));
          const scattered = put(backend, operation, a);
          const stream = backend.putStream(pairsOf(b));
          reduction.scatter(operation, scattered, 0, stream);
          for (const vector of [out, scattered]) {
            expect(
              read(backend, operation, vector).map((e) => same(operation, e)),
            ).toEqual(expected.map((entry) => same(operation, entry)));
          }
          const mine = backend.putStream(pairsOf(a));
          const room = backend.arena.allocate(8 * (mine.count + stream.count));
          const forth = backend.pairs(reduction.merge(operation, mine, stream, room));
          const back = backend.pairs(reduction.merge(operation, stream, mine, room));
          expect(forth).toEqual(pairsOf(expected));
          expect(back).toEqual(forth);
        }),
        { numRuns: 150 },
      );
    });

    test('scatters into a range that starts anywhere, and never beside it', () => {
      const around = put(backend, operation, [7, undefined, undefined, undefined, 7]);
      const range = { offset: around.offset + 4, length: 3 };
      const start = 2 ** 31 + 5;
      reduction.clear(operation, range);
      const stream = backend.putStream([
        [start, 3],
        [start + 2, 5],
      ]);
      reduction.scatter(operation, range, start, stream);
      reduction.scatter(operation, range, start, stream);
      const twice = (x: number) => apply[operation](x, x);
      const nothing = operation === 'sum' ? 0 : undefined;
      expect(read(backend, operation, around)).toEqual([
        7,
        twice(3),
        nothing,
        twice(5),
        7,
      ]);
      const outside = backend.putStream([[start + 3, 1]]);
      expect(() => {
        reduction.scatter(operation, range, start, outside);
      }).toThrow('internal:');
    });
  });

  test('finds the first index out of order or out of range', () => {
    const first = (indices: number[], start: number, end: number) =>
      reduction.firstDisordered(
        backend.putStream(indices.map((index) => [index, 1])),
        start,
        end,
      );
    expect(first([], 0, 0)).toBe(-1);
    expect(first([0, 1, 9], 0, 10)).toBe(-1);
    expect(first([0, 1, 10], 0, 10)).toBe(2);
    expect(first([3, 4], 4, 10)).toBe(0);
    expect(first([4, 4], 4, 10)).toBe(1);
    expect(first([4, 8, 6], 4, 10)).toBe(2);
    expect(first([2 ** 32 - 1], 0, 2 ** 32 - 1)).toBe(0);
    expect(first([2 ** 32 - 2], 0, 2 ** 32 - 1)).toBe(-1);
  });

  test('finds where a bound lies', () => {
    const stream = backend.putStream([
      [2, 1],
      [5, 1],
      [9, 1],
    ]);
    const found = [0, 2, 3, 5, 6, 9, 10].map((bound) =>
      reduction.firstAtLeast(stream, bound),
    );
    expect(found).toEqual([0, 0, 1, 1, 2, 2, 3]);
  });
});
