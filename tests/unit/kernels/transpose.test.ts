/** A matrix in the order of its columns: every element where it belongs, and no other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../harness/effort.ts';
import { bellShaped } from './adversarial-inputs.ts';
import { backends, bytes } from './backends.ts';

describe.each(Object.entries(backends))('%s', (_, make) => {
  const { arena, kernels } = make();
  /** Matrix, guard, result, guard. */
  const room = arena.allocate(4 * 20_000);

  function transposed(
    values: Float32Array,
    rows: number,
    columns: number,
    before?: Float32Array,
  ): Float32Array {
    const n = rows * columns;
    const all = arena.f32({ offset: room.offset, length: 2 * n + 8 }).fill(7);
    all.set(values, 0);
    if (before !== undefined) all.set(before, n + 4);
    const out = { offset: room.offset + 4 * (n + 4), length: n };
    const matrix = { offset: room.offset, rows, columns };
    kernels.transpose(matrix, out, before !== undefined);
    expect(bytes(all.slice(0, n)).equals(bytes(values))).toBe(true);
    expect([...all.slice(n, n + 4), ...all.slice(2 * n + 4)]).toEqual(
      new Array(8).fill(7),
    );
    return arena.f32(out).slice();
  }

  it('moves and adds every element, whatever the sizes', () => {
    const size = fc.oneof(
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ max: 70, min: 10 }),
    );
    fc.assert(
      fc.property(size, size, fc.boolean(), (rows, columns, add) => {
        const n = rows * columns;
        const x = bellShaped(n, rows + 1);
        const before = bellShaped(n, columns + 100);
        const expected = new Float32Array(n);
        x.forEach((value, i) => {
          const to = (i % columns) * rows + Math.floor(i / columns);
          expected[to] = add ? Math.fround(before[to]! + value) : value;
        });
        const actual = transposed(x, rows, columns, add ? before : undefined);
        expect(bytes(actual).equals(bytes(expected))).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });

  it('keeps the bits of -0 and of what is no number', () => {
    const words = Uint32Array.of(0x8000_0000, 0x7fc1_2345, 0x7f80_0000, 1);
    const x = new Float32Array(words.buffer);
    // One row, one column: through the ends of the loops alone.
    expect(bytes(transposed(x, 1, 4)).equals(bytes(x))).toBe(true);
    expect(bytes(transposed(x, 4, 1)).equals(bytes(x))).toBe(true);
    const square = transposed(x, 2, 2);
    const swapped = Uint32Array.of(words[0]!, words[2]!, words[1]!, words[3]!);
    expect(bytes(square).equals(bytes(swapped))).toBe(true);
  });

  it('refuses memory that is not apart', () => {
    const matrix = { offset: room.offset, rows: 2, columns: 3 };
    for (const out of [
      { offset: room.offset, length: 6 },
      { offset: room.offset + 20, length: 6 },
      { offset: room.offset + 24, length: 5 },
    ]) {
      expect(() => {
        kernels.transpose(matrix, out, false);
      }).toThrow('internal:');
    }
  });
});
