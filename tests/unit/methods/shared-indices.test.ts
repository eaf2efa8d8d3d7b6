/** Methods whose ranks select the same entries: random-k and ScaleCom. */
import { describe, expect, it } from 'vitest';
import { LoneRank } from '../../../src/agent/engine.ts';
import { chunkSize } from '../../../src/agent/methods/scalecom.ts';
import { methods, validateParameters } from '../../../src/agent/methods/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { openInArena } from './open-in-arena.ts';
import { SimulatedWorld } from './simulated-world.ts';

const N = 1000;
const P = 3;

function worldOf(
  method: string,
  parameters: Record<string, number | string> = {},
): SimulatedWorld {
  return new SimulatedWorld({
    method,
    parameters: { ratio: 0.05, ...parameters },
    ranks: P,
    length: N,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
}

const gradientsAt = (iteration: number): Float32Array[] =>
  Array.from({ length: P }, (_, rank) => bellShaped(N, 1 + iteration * P + rank));

/** Entries that a rank's residual has given up: those that it sent, at β = 1. */
function cleared(world: SimulatedWorld, rank: number): number[] {
  const residual = world.residual(rank);
  return Array.from(residual.keys()).filter((i) => residual[i] === 0);
}

describe.each([
  ['randomk', {}],
  ['scalecom', { beta: 1, selection: 'exact' }],
  ['scalecom', { beta: 1, selection: 'chunk' }],
])('%s %j', (method, parameters) => {
  it('selects the same k entries on every rank, and others at another iteration', async () => {
    const world = worldOf(method, parameters);
    await world.exchange(0, gradientsAt(0));
    const first = cleared(world, 0);
    expect(first.length).toBe(50);
    for (let rank = 1; rank < P; rank++) expect(cleared(world, rank)).toEqual(first);
    const other = worldOf(method, parameters);
    await other.exchange(1, gradientsAt(1));
    expect(cleared(other, 0)).not.toEqual(first);
    expect(world.statistics[0]).toEqual({ nnzLocal: 50, nnzReduced: 50 });
  });

  it('sends 4 bytes for each value', async () => {
    const world = worldOf(method, parameters);
    await world.exchange(0, gradientsAt(0));
    expect(world.sent.map((bytes) => bytes.length)).toEqual([200, 200, 200]);
  });
});

describe('scalecom', () => {
  it.each([
    ['outside the bucket', [3, 12], 'PAYLOAD_INVALID'],
    ['that do not ascend', [5, 4], 'PAYLOAD_INVALID'],
    ['of another number', [1, 2, 3], 'PAYLOAD_INVALID'],
  ])('refuses a leader’s indices %s', async (_, indices, code) => {
    const { arena, kernels } = backends.wasm();
    const gradient = { ...arena.allocateVector(12), length: 12 };
    const residual = { ...arena.allocateVector(12), length: 12 };
    kernels.fill(residual, 0);
    const method = methods.get('scalecom')!;
    const context = {
      length: 12,
      tensors: [],
      parameters: { ...validateParameters(method, { ratio: 2 / 12 }) },
      seed: 1,
      rank: 1,
      world: 2,
      bucket: 0,
      residual,
    };
    using compressor = openInArena({ arena, kernels, method, context, gradient });
    const sent = arena.allocate(4 * indices.length);
    arena.u32(sent.offset, indices.length).set(indices);
    const data = { offset: sent.offset, bytes: 4 * indices.length };
    const exchanged = compressor.exchange(0, () =>
      Promise.resolve({
        form: 'gathered',
        payloads: [{ kind: 'quantized', length: 12, data }],
      }),
    );
    await expect(exchanged).rejects.toMatchObject({ code, rank: 0 });
  });

  it('takes its entries from each rank in turn', async () => {
    for (let iteration = 0; iteration < 2 * P; iteration++) {
      const world = worldOf('scalecom', { beta: 1, selection: 'exact' });
      const gradients = gradientsAt(iteration);
      await world.exchange(iteration, gradients);
      const leader = gradients[iteration % P]!;
      const order = [...leader.keys()].sort(
        (i, j) => Math.abs(leader[j]!) - Math.abs(leader[i]!) || i - j,
      );
      expect(cleared(world, 0)).toEqual(order.slice(0, 50).sort((i, j) => i - j));
    }
  });

  it.each([0.1, 0.3, 1])(
    'keeps the paper’s invariant at β = %d: w − (η/β)·avg(m) is what SGD has',
    async (beta) => {
      const world = worldOf('scalecom', { beta });
      const applied = new Float64Array(N);
      const given = new Float64Array(N);
      for (let iteration = 0; iteration < 60; iteration++) {
        const gradients = gradientsAt(iteration);
        const [result] = await world.exchange(iteration, gradients);
        for (let i = 0; i < N; i++) {
          applied[i]! += result![i]!;
          for (const gradient of gradients) given[i]! += gradient[i]! / P;
        }
      }
      // The residual that is kept is m/β.
      for (let rank = 0; rank < P; rank++) {
        world.residual(rank).forEach((m, i) => {
          applied[i]! += m / P;
        });
      }
      const norm = (x: Float64Array): number => Math.hypot(...x);
      const difference = applied.map((value, i) => value - given[i]!);
      expect(norm(difference)).toBeLessThan(1e-5 * norm(given));
    },
  );

  it('has chunks of one entry each unless told otherwise', () => {
    const chunk = { selection: 'chunk', chunk: 0, ratio: 0.01 } as const;
    expect(chunkSize(chunk)).toBe(100);
    expect(chunkSize({ ...chunk, ratio: 1 })).toBe(1);
    expect(chunkSize({ ...chunk, ratio: 0.7 })).toBe(3);
    expect(chunkSize({ ...chunk, chunk: 512 })).toBe(512);
    expect(chunkSize({ ...chunk, selection: 'exact' })).toBe(0);
  });

  it('sends about the ratio, whatever it is', async () => {
    const n = 6000;
    for (let percent = 1; percent <= 100; percent++) {
      const ratio = percent / 100;
      using lone = new LoneRank({
        method: 'scalecom',
        parameters: { ratio, selection: 'chunk' },
        shape: [n],
      });
      const { nnz } = await lone.compress(bellShaped(n), 0);
      // A twentieth, and the shorter chunk at the end.
      expect(Math.abs(nnz! - ratio * n), `ratio ${ratio}`).toBeLessThanOrEqual(
        0.05 * ratio * n + 1,
      );
    }
  });
});
