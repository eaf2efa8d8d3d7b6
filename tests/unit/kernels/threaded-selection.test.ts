/** Selections by several threads: what they leave unwritten, and the memory that they take. */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { SlicedEntries } from '../../../src/agent/kernels/wasm/sliced-entries.ts';
import { SlicedSelection } from '../../../src/agent/kernels/wasm/sliced-selection.ts';
import type { Elements, Of } from '../../../src/agent/kernels/wasm/kernel-exports.ts';
import { bellShaped } from './adversarial-inputs.ts';
import { threaded, type Threaded } from './threaded.ts';

const LENGTH = 1 << 20;

it('slices that are skipped copy nothing, whatever the memory held before', async () => {
  const { backend, pool } = threaded(2, () => true);
  const { arena, kernels } = backend;
  const x = arena.allocateVector(LENGTH);
  kernels.fill(x, 1);
  const most = 1000;
  const { offset } = arena.allocate(8 * most);
  // As addresses, bits of −0.01 are beyond memory.
  const old = arena.allocateVector(LENGTH / 4);
  arena.allocate(16);
  arena.f32(old).fill(-0.01);
  arena.release(old);
  const room = { offset, capacity: most };
  const first = 5;
  const found = kernels.sparsification.appendAtLeast(x, 0.5, first, room, 0, most);
  expect(found).toBe(most);
  const indices = Array.from({ length: most }, (_, i) => first + i);
  expect([...arena.u32(offset, most)]).toEqual(indices);
  await pool.close();
});

describe('rooms of threads', () => {
  const threads: Threaded = threaded(2);
  const { arena, kernels } = threads.backend;
  const values = bellShaped(LENGTH);
  const vector = threads.backend.put(values);
  const x = vector as unknown as Elements<'x'>;
  afterAll(() => threads.pool.close());

  /** Selects into new memory; returns what was selected, and the bytes of scratch. */
  function select(
    most: number,
    mostRoom: number | undefined,
    run: (
      selection: SlicedSelection,
      place: { indices: Of<'indices'>; values: Of<'values'> },
    ) => void,
  ): { readonly entries: Uint32Array; readonly scratch: number } {
    const { offset } = arena.allocate(8 * most);
    const allocate = vi.spyOn(arena, 'allocate');
    run(new SlicedSelection(arena, threads.pool, mostRoom), {
      indices: offset as Of<'indices'>,
      values: (offset + 4 * most) as Of<'values'>,
    });
    const scratch = allocate.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);
    allocate.mockRestore();
    return { entries: arena.u32(offset, 2 * most).slice(), scratch };
  }

  it('hold no more than they may, with the same entries', () => {
    const threshold = kernels.sparsification.kthMagnitude(vector, 50_000);
    const append = (mostRoom?: number) =>
      select(LENGTH, mostRoom, (selection, place) => {
        const first = 0 as Of<'first'>;
        const found = selection.appendAtLeast(x, threshold, first, LENGTH, place);
        expect(found).toBe(50_000);
      });
    const roomy = append();
    const narrow = append(2 ** 16);
    expect(narrow.entries.subarray(0, 50_000)).toEqual(
      roomy.entries.subarray(0, 50_000),
    );
    expect(roomy.scratch).toBeGreaterThan(8 * 2 * (LENGTH / 8) - 1);
    expect(narrow.scratch).toBeLessThan(2 ** 17);
  });

  it('hold no more than they may where a sample finds candidates', () => {
    const k = 10_000;
    const top = (mostRoom?: number) =>
      select(k, mostRoom, (selection, place) => {
        selection.selectTopK(x, k as Of<'k'>, place);
      });
    const roomy = top();
    const narrow = top(2 ** 16);
    expect(narrow.entries).toEqual(roomy.entries);
    expect(narrow.scratch).toBeLessThan(roomy.scratch);
  });

  it('have 64 MiB in all, however many threads there are', () => {
    const { mostCollected } = new SlicedEntries(arena, threads.pool);
    expect(8 * mostCollected * threads.pool.count).toBe(2 ** 26);
  });
});
