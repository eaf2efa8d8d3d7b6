/**
 * The reduction kernels: each backend against the definition, bit for bit, for either type
 * of value.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ABSENT_BITS,
  REDUCE_OPERATIONS,
  type ReduceOperation,
} from '../../../src/agent/kernels/reduction.ts';
import type { SparseStream } from '../../../src/agent/memory/entries.ts';
import type { Region, Vector } from '../../../src/agent/memory/arena.ts';
import {
  VALUE_TYPES,
  valueBytesOf,
  type ValueType,
} from '../../../src/agent/memory/value-type.ts';
import { runs } from '../../harness/effort.ts';
import { backends } from './backends.ts';

const round: Record<ValueType, (x: number) => number> = {
  f32: Math.fround,
  f64: (x) => x,
};

const apply = (
  type: ValueType,
): Record<ReduceOperation, (x: number, y: number) => number> => ({
  sum: (x, y) => round[type](x + y),
  min: Math.min,
  max: Math.max,
  prod: (x, y) => round[type](x * y),
});

const extremes = [0, -0, 1, Infinity, -Infinity, 1e-45, 1e-30, 1e30, -1e30];
const values: Record<ValueType, fc.Arbitrary<number>> = {
  f32: fc.oneof(
    fc.float({ noNaN: true }),
    fc.constantFrom(...extremes).map(Math.fround),
  ),
  f64: fc.oneof(
    fc.double({ noNaN: true }),
    fc.constantFrom(...extremes, 5e-324, 1e-300, 1e300),
  ),
};
const entries = (type: ValueType, length: number) =>
  fc.array(fc.option(values[type], { nil: undefined, freq: 3 }), {
    minLength: length,
    maxLength: length,
  });
type Entries = readonly (number | undefined)[];

const pairsOf = (all: Entries): [number, number][] =>
  all.flatMap((entry, index) =>
    entry === undefined ? [] : [[index, entry] as [number, number]],
  );

function combined(
  type: ValueType,
  operation: ReduceOperation,
  a: Entries,
  b: Entries,
): Entries {
  return a.map((mine, index) => {
    const theirs = b[index];
    if (mine === undefined || theirs === undefined) return mine ?? theirs;
    return apply(type)[operation](mine, theirs);
  });
}

/** A backend's arena with values of one type in it. */
class Memory {
  readonly #type: ValueType;
  readonly backend;

  constructor(name: 'reference' | 'wasm', type: ValueType) {
    this.backend = backends[name]();
    this.#type = type;
  }

  get bytes() {
    return valueBytesOf(this.#type);
  }

  get reduction() {
    const { reduction, reduction64 } = this.backend.kernels;
    return this.#type === 'f32' ? reduction : reduction64;
  }

  /** Absent entries are 0 under a sum, whose neutral element is one of its values. */
  put(operation: ReduceOperation, all: Entries): Vector {
    const { offset } = this.backend.arena.allocate(this.bytes * all.length);
    const vector = { offset, length: all.length };
    this.#write(
      offset,
      all.map((entry) => entry ?? 0),
    );
    if (operation !== 'sum') {
      const words = this.bytes / 4;
      for (const [index, entry] of all.entries()) {
        if (entry !== undefined) continue;
        const at = offset + this.bytes * index;
        this.backend.arena.u32(at, words).fill(ABSENT_BITS);
      }
    }
    return vector;
  }

  read(operation: ReduceOperation, { offset, length }: Vector): Entries {
    const words = this.bytes / 4;
    return this.#values(offset, length).map((entry, index) => {
      const bits = this.backend.arena.u32(offset + this.bytes * index, words);
      const absent = bits.every((word) => word === ABSENT_BITS);
      return operation !== 'sum' && absent ? undefined : entry;
    });
  }

  putStream(pairs: readonly (readonly [number, number])[]): SparseStream & Region {
    const count = pairs.length;
    const region = this.backend.arena.allocate((4 + this.bytes) * count);
    const indices = this.backend.arena.u32(region.offset, count);
    indices.set(pairs.map(([index]) => index));
    this.#write(
      region.offset + 4 * count,
      pairs.map(([, value]) => value),
    );
    return { ...region, count };
  }

  pairs({ offset, count }: SparseStream): [number, number][] {
    const all = this.#values(offset + 4 * count, count);
    return Array.from(this.backend.arena.u32(offset, count), (index, place) => [
      index,
      all[place]!,
    ]);
  }

  /** Values of a stream lie at any multiple of 4 bytes. */
  #values(offset: number, length: number): number[] {
    const view = new DataView(this.backend.arena.buffer);
    return Array.from({ length }, (_, index) =>
      this.#type === 'f32'
        ? view.getFloat32(offset + 4 * index, true)
        : view.getFloat64(offset + 8 * index, true),
    );
  }

  #write(offset: number, all: readonly number[]): void {
    const view = new DataView(this.backend.arena.buffer);
    for (const [index, value] of all.entries()) {
      if (this.#type === 'f32') view.setFloat32(offset + 4 * index, value, true);
      else view.setFloat64(offset + 8 * index, value, true);
    }
  }
}

/** 0 + −0 is 0: where both an absent and a −0 may stand, a sum cannot tell. */
const same = (operation: ReduceOperation, entry: number | undefined) =>
  operation === 'sum' ? (entry ?? 0) + 0 : entry;

describe.each(
  (['reference', 'wasm'] as const).flatMap((name) =>
    VALUE_TYPES.map((type) => [name, type] as const),
  ),
)('%s of %s', (name, type) => {
  const memory = new Memory(name, type);
  const { reduction } = memory;
  const cases = fc
    .integer({ min: 0, max: 40 })
    .chain((length) => fc.tuple(entries(type, length), entries(type, length)));

  describe.each(REDUCE_OPERATIONS)('%s', (operation) => {
    test('combines, scatters and merges as defined, whichever comes first', () => {
      fc.assert(
        fc.property(cases, ([a, b]) => {
          const expected = combined(type, operation, a, b);
          const out = memory.put(operation, a);
          reduction.combine(operation, out, memory.put(operation, b));
          const scattered = memory.put(operation, a);
          const stream = memory.putStream(pairsOf(b));
          reduction.scatter(operation, scattered, 0, stream);
          for (const vector of [out, scattered]) {
            expect(
              memory.read(operation, vector).map((e) => same(operation, e)),
            ).toEqual(expected.map((entry) => same(operation, entry)));
          }
          const mine = memory.putStream(pairsOf(a));
          const room = memory.backend.arena.allocate(
            (4 + memory.bytes) * (mine.count + stream.count),
          );
          const forth = memory.pairs(reduction.merge(operation, mine, stream, room));
          const back = memory.pairs(reduction.merge(operation, stream, mine, room));
          expect(forth).toEqual(pairsOf(expected));
          expect(back).toEqual(forth);
        }),
        { numRuns: runs(150) },
      );
    });

    test('merges long streams, however they are spread, and keeps what stands behind', () => {
      const spreads: readonly ((place: number) => number)[] = [
        (place) => 3 * place,
        (place) => place,
        (place) => place ** 2,
        (place) => 2 ** 32 - 2 - 10_000 + 7 * place,
        (place) => place + (place < 600 ? 0 : 1_000_000),
      ];
      const streamOf = (count: number, spread: number): [number, number][] =>
        Array.from({ length: count }, (_, place) => [
          spreads[spread]!(place),
          round[type](extremes[place % extremes.length]!),
        ]);
      const longs = fc.tuple(
        fc.integer({ min: 0, max: 1200 }),
        fc.nat({ max: spreads.length - 1 }),
      );
      fc.assert(
        fc.property(longs, longs, (a, b) => {
          const [left, right] = [streamOf(...a), streamOf(...b)];
          const sums = new Map(left);
          for (const [index, value] of right) {
            const before = sums.get(index);
            const both = apply(type)[operation];
            sums.set(index, before === undefined ? value : both(before, value));
          }
          const bytes = (4 + memory.bytes) * (left.length + right.length);
          const room = memory.backend.arena.allocate(bytes + 4);
          memory.backend.arena.u32(room.offset + bytes, 1)[0] = 0xdecafbad;
          const out = { offset: room.offset, bytes };
          const merged = reduction.merge(
            operation,
            memory.putStream(left),
            memory.putStream(right),
            out,
          );
          const expected = [...sums].sort(([i], [j]) => i - j);
          expect(memory.pairs(merged)).toEqual(expected);
          expect(memory.backend.arena.u32(room.offset + bytes, 1)[0]).toBe(0xdecafbad);
        }),
        { numRuns: runs(60) },
      );
    });

    test('scatters into a range that starts anywhere, and never beside it', () => {
      const around = memory.put(operation, [7, undefined, undefined, undefined, 7]);
      const range = { offset: around.offset + memory.bytes, length: 3 };
      const start = 2 ** 31 + 5;
      reduction.clear(operation, range);
      const stream = memory.putStream([
        [start, 3],
        [start + 2, 5],
      ]);
      reduction.scatter(operation, range, start, stream);
      reduction.scatter(operation, range, start, stream);
      const twice = (x: number) => apply(type)[operation](x, x);
      const nothing = operation === 'sum' ? 0 : undefined;
      expect(memory.read(operation, around)).toEqual([
        7,
        twice(3),
        nothing,
        twice(5),
        7,
      ]);
      const outside = memory.putStream([[start + 3, 1]]);
      expect(() => {
        reduction.scatter(operation, range, start, outside);
      }).toThrow('internal:');
    });
  });

  test('finds the first index out of order or out of range', () => {
    const first = (indices: number[], start: number, end: number) =>
      reduction.firstDisordered(
        memory.putStream(indices.map((index) => [index, 1])),
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

  test('finds the first index that is wrong in a long stream, wherever it is', () => {
    const length = 100;
    const wrong: readonly ((indices: number[], at: number) => void)[] = [
      (indices, at) => (indices[at] = at === 0 ? 9 : indices[at - 1]!),
      (indices, at) => (indices[at] = at === 0 ? 0 : indices[at - 1]! - 1),
      (indices, at) => (indices[at] = 2 ** 32 - 1),
    ];
    for (const spoil of wrong) {
      for (let at = 0; at < length; at++) {
        const indices = Array.from({ length }, (_, place) => 10 + 3 * place);
        spoil(indices, at);
        const stream = memory.putStream(indices.map((index) => [index, 1]));
        expect(reduction.firstDisordered(stream, 10, 2 ** 31)).toBe(at);
      }
    }
  });

  test('finds where a bound lies', () => {
    const stream = memory.putStream([
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
