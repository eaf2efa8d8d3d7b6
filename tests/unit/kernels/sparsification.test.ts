/**
 * The sparsifiers' kernels: WebAssembly against the reference, bit for bit, on the sizes
 * and inputs of the matrix, and both against the definitions.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Region } from '../../../src/agent/memory/arena.ts';
import type { SparseStream } from '../../../src/agent/memory/entries.ts';
import {
  closeStream,
  entriesPerRun,
  roomBytes,
  type StreamRoom,
} from '../../../src/agent/kernels/sparsification.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';
import type { Backend } from './backends.ts';
import { backends, bytes } from './backends.ts';

let reference: Backend;
let wasm: Backend;

beforeAll(() => {
  reference = backends.reference();
  wasm = backends.wasm();
});

type Result = readonly (number | Float32Array | Uint32Array)[];

/** Both backends do the same work; what it returns is to have the same bits. */
function expectSameBits(work: (backend: Backend) => Result): void {
  const expected = work(reference);
  work(wasm).forEach((actual, i) => {
    const wanted = expected[i]!;
    if (typeof actual === 'number' || typeof wanted === 'number') {
      expect(actual).toBe(wanted);
    } else if (!bytes(actual).equals(bytes(wanted))) {
      const at = actual.findIndex((value, j) => !Object.is(value, wanted[j]));
      expect.fail(`array ${i} differs at ${at}: ${actual[at]} for ${wanted[at]}`);
    }
  });
}

/** Memory for one piece of work. */
function within<T>(backend: Backend, sizes: number[], work: (...r: Region[]) => T): T {
  const regions = sizes.map((size) => backend.arena.allocate(size));
  try {
    return work(...regions);
  } finally {
    for (const region of regions) backend.arena.release(region);
  }
}

const streamOf = (backend: Backend, stream: SparseStream): Result =>
  Object.values(backend.getStream(stream));

/** The million takes the reference long: two inputs of it will do. */
const cases = SIZES.flatMap((n) =>
  Object.keys(INPUTS)
    .filter((name) => n < 1e5 || ['bellShaped', 'few distinct values'].includes(name))
    .map((name) => ({ n, name })),
);

describe.each(cases)('n = $n, $name', ({ n, name }) => {
  const x = INPUTS[name]!(n);

  it('thresholds and the streams of what reaches them', () => {
    const thresholds = [0, x[n >>> 1] ?? 1, 0.5, 1e30].map(Math.abs);
    expectSameBits((backend) => {
      const { arena, kernels } = backend;
      const vector = backend.put(x);
      try {
        return thresholds.flatMap((threshold) =>
          within(backend, [roomBytes(2 * n + 3)], ({ offset }) => {
            const room: StreamRoom = { offset, capacity: 2 * n + 3 };
            const append = kernels.sparsification.appendAtLeast.bind(
              kernels.sparsification,
            );
            const some = append(vector, threshold, 0, room, 0, Math.ceil(n / 3));
            const all = append(vector, threshold, n, room, some, Infinity);
            return [some, all, ...streamOf(backend, closeStream(arena, room, all))];
          }),
        );
      } finally {
        arena.release(vector);
      }
    });
  });

  it('magnitudes by rank', () => {
    const ranks = n > 1e5 ? [1, n >>> 7] : [1, Math.ceil(n / 100), (n + 1) >>> 1, n];
    const some = ranks.filter((k) => k >= 1 && k <= n);
    expectSameBits((backend) => {
      const vector = backend.put(x);
      const result = some.map((k) =>
        backend.kernels.sparsification.kthMagnitude(vector, k),
      );
      backend.arena.release(vector);
      return result;
    });
  });

  it('top-k of runs', () => {
    const shapes: [number, number, number][] = [
      [512, 4, 2],
      [100, 1, 1],
      [64, 40, 9],
      [7, 0, 3],
      [5, 9, 9],
    ];
    expectSameBits((backend) => {
      const vector = backend.put(x);
      const results = (n > 1e5 ? shapes.slice(0, 1) : shapes).flatMap(
        ([run, k, tailK]) =>
          within(backend, [8 * entriesPerRun(n, run, k, tailK)], (out) =>
            streamOf(
              backend,
              backend.kernels.sparsification.selectTopKPerRun(
                vector,
                run,
                k,
                tailK,
                out,
              ),
            ),
          ),
      );
      backend.arena.release(vector);
      return results;
    });
  });

  it('blends, and gathers by index', () => {
    const indices = Uint32Array.from({ length: n >>> 2 }, (_, i) => (i * 7919) % n);
    expectSameBits((backend) => {
      const { arena, kernels } = backend;
      const blended = backend.put(x);
      const other = backend.put(bellShaped(n, 2));
      kernels.blend(blended, 0.9, other, 0.1);
      const gathered = within(
        backend,
        [indices.byteLength, indices.byteLength],
        (list, out) => {
          arena.u32(list.offset, indices.length).set(indices);
          const values = { offset: out.offset, length: indices.length };
          const wanted = { offset: list.offset, count: indices.length };
          kernels.sparsification.gatherAt(blended, wanted, values);
          return backend.get(values);
        },
      );
      const result = [backend.get(blended), gathered];
      arena.release(blended);
      arena.release(other);
      return result;
    });
  });

  it('mean and variance', () => {
    const [expected, actual] = [reference, wasm].map((backend) => {
      const vector = backend.put(x);
      const result = backend.kernels.moments(vector);
      backend.arena.release(vector);
      return result;
    });
    expect(actual!.variance).toBeGreaterThanOrEqual(0);
    const scale = Math.sqrt(expected!.variance) + Math.abs(expected!.mean);
    expect(Math.abs(actual!.mean - expected!.mean)).toBeLessThanOrEqual(1e-6 * scale);
    expect(Math.abs(actual!.variance - expected!.variance)).toBeLessThanOrEqual(
      1e-6 * expected!.variance,
    );
  });
});

describe.each(Object.entries(backends))('%s', (_, make) => {
  it('moments survive a mean that dwarfs the deviation, and an outlier at the front', () => {
    const backend = make();
    const shifted = backend.put([8_000_001, 8_000_003, 8_000_001, 8_000_003]);
    expect(backend.kernels.moments(shifted)).toEqual({ mean: 8_000_002, variance: 1 });
    const outlier = backend.put([1e20, ...new Array<number>(99).fill(1)]);
    const { mean, variance } = backend.kernels.moments(outlier);
    expect(mean / 1e18).toBeCloseTo(1, 6);
    expect(Math.sqrt(variance) / (1e20 * Math.sqrt(0.0099))).toBeCloseTo(1, 6);
  });

  it('refuses an index outside, and has then written nothing', () => {
    const backend = make();
    const x = backend.put([1, 2, 3]);
    const list = backend.arena.allocate(8);
    backend.arena.u32(list.offset, 2).set([0, 3]);
    const out = backend.put([7, 7]);
    expect(() => {
      backend.kernels.sparsification.gatherAt(x, { ...list, count: 2 }, out);
    }).toThrow(expect.objectContaining({ code: 'STREAM_INDEX_OUT_OF_RANGE' }));
    expect([...backend.get(out)]).toEqual([7, 7]);
  });

  it('draws distinct indices, ascending, all sets alike', () => {
    const { arena, kernels } = make();
    const out = arena.allocate(4 * 100);
    const draw = (n: number, k: number, iteration: number): Uint32Array => {
      const name = { seed: 7, iteration };
      const list = kernels.sparsification.drawIndices(n, k, name, out);
      return arena.u32(list.offset, list.count).slice();
    };
    expect([...draw(100, 100, 0)]).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect([...draw(5, 0, 0)]).toEqual([]);
    // 10 sets of 2 of 5, 1000 each expected of 10,000: within 5 standard deviations.
    const sets = new Map<string, number>();
    for (let iteration = 0; iteration < 10_000; iteration++) {
      const set = draw(5, 2, iteration).join();
      sets.set(set, (sets.get(set) ?? 0) + 1);
    }
    expect([...sets.keys()].sort().join(' ')).toBe(
      '0,1 0,2 0,3 0,4 1,2 1,3 1,4 2,3 2,4 3,4',
    );
    for (const times of sets.values()) expect(Math.abs(times - 1000)).toBeLessThan(150);
  });
});

it('both backends draw the same indices', () => {
  const named = { seed: 3, rank: 1, bucket: 2, iteration: 9, purpose: 4 };
  for (const [n, k] of [
    [1, 1],
    [63, 5],
    [64, 64],
    [1_000_003, 1_000],
  ] as const) {
    expectSameBits((backend) =>
      within(backend, [4 * k], (out) => {
        const { offset, count } = backend.kernels.sparsification.drawIndices(
          n,
          k,
          named,
          out,
        );
        return [backend.arena.u32(offset, count).slice()];
      }),
    );
  }
});
