/**
 * `auto` under a wrong assumption, by engines of eight ranks over real sockets: all of them
 * move at the same exchange. A rank that moved alone would be caught at once, for every
 * message's header names the collective.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { ArenaSite } from '../../../src/agent/exchange/arena-site.ts';
import {
  ExchangeEngine,
  type ExchangeResult,
} from '../../../src/agent/exchange/exchange-engine.ts';
import { WINDOW } from '../../../src/agent/exchange/exchange-review.ts';
import { resolvePlan } from '../../../src/agent/exchange/resolve-plan.ts';
import { Arena } from '../../../src/agent/kernels/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';

const P = 8;
const N = 50_000;
/** Bytes dominate, whatever this machine's times make of the constants. */
const NETWORK = { alpha: 1e-6, beta: 10e-9, gamma: 1e-10, merge: 1e-9, scatter: 1e-9 };
/** Two to settle, a window, one more to agree on the last of it. */
const FIRST_MOVE = 2 + WINDOW + 1;

const open: Transport[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((transport) => transport.close()));
});

/** Results of every rank, by iteration. */
async function run(
  exchange: Record<string, unknown>,
  iterations: number,
  element: (rank: number, i: number) => number,
): Promise<readonly (readonly ExchangeResult[])[]> {
  const secret = randomBytes(32);
  const listeners = await Promise.all(
    Array.from({ length: P }, () => listenTcp('127.0.0.1')),
  );
  const addresses = listeners.map(({ address }) => address);
  const ranks = await Promise.all(
    listeners.map(async (listener, rank) => {
      const arena = new Arena();
      const clock = new PhaseClock();
      const transport = await connectMesh({
        listener,
        rank,
        addresses,
        runId: 'auto',
        secret,
        timeoutMs: 10_000,
        observer: clock,
      });
      open.push(transport);
      const gradient = { offset: arena.allocateVector(N).offset, length: N };
      const kernels = loadWasmKernels(arena);
      const engine = new ExchangeEngine({
        arena,
        kernels,
        transport,
        clock,
        tensors: [{ name: 'w', shape: [N], start: 0, length: N }],
        site: new ArenaSite({ arena, kernels, clock, gradient }),
        seed: 1,
        plan: resolvePlan(exchange),
        switches: [],
        network: NETWORK,
      });
      return { engine, values: arena.f32(gradient) };
    }),
  );
  const results: ExchangeResult[][] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    results.push(
      await Promise.all(
        ranks.map(async ({ engine, values }, rank) => {
          engine.fence(iteration);
          for (let i = 0; i < N; i++) values[i] = element(rank, i);
          return await engine.exchange(iteration);
        }),
      ),
    );
  }
  return results;
}

function moves(results: readonly (readonly ExchangeResult[])[]): readonly number[] {
  const at: number[] = [];
  for (const [iteration, all] of results.entries()) {
    const [first] = all;
    for (const other of all) {
      expect(other.collective).toBe(first!.collective);
      expect(other.notices).toEqual(first!.notices);
    }
    const before = results[iteration - 1]?.[0]!.collective;
    if (before !== undefined && before !== first!.collective) at.push(iteration);
  }
  return at;
}

const codes = (results: readonly (readonly ExchangeResult[])[]): readonly string[] =>
  results.flatMap(([first]) =>
    first!.notices
      .map(({ code }) => code)
      .filter((code) => code.startsWith('COLLECTIVE')),
  );

test('indices that are the same on all ranks: moves once, all ranks together', async () => {
  // E[K] of uniform indices is beyond δ; but all ranks select the same.
  const results = await run(
    { method: 'topk', ratio: 0.09 },
    FIRST_MOVE + 2 * WINDOW,
    (_, i) => ((i * 7919) % N) + 1,
  );
  expect(results[0]![0]!.collective).toBe('dsar-split-allgather');
  expect(moves(results)).toEqual([FIRST_MOVE]);
  expect(results.at(-1)![0]!.collective).not.toBe('dsar-split-allgather');
  expect(results.at(-1)![0]!.statistics.nnzReduced).toBe(0.09 * N);
  expect(codes(results)).toEqual(['COLLECTIVE_CHOSEN', 'COLLECTIVE_CHANGED']);
  const told = results[FIRST_MOVE - 1]![0]!.notices.find(
    ({ code }) => code === 'COLLECTIVE_CHANGED',
  );
  expect(told?.message).toMatch(/^auto moves bucket 0 from dsar-split-allgather to /);
  // K of a dense result is estimated from a sample.
  expect(told?.message).toMatch(/k = 4,500, K = 4,[45]\d\d, P = 8 \(K = 26,4\d\d was/);
});

test('a threshold that sends everything, not the little that was assumed', async () => {
  const results = await run(
    { method: 'threshold', threshold: 0.5 },
    FIRST_MOVE + 2,
    (rank, i) => ((i + rank) % 10) + 1,
  );
  expect(moves(results)).toEqual([FIRST_MOVE]);
  const [, changed] = results.flatMap(([first]) => first!.notices);
  expect(changed?.message).toContain('k = 50,000, K = 50,000, P = 8');
});

test('a collective that was named is left alone', async () => {
  const results = await run(
    { method: 'topk', ratio: 0.09, collective: 'dsar-split-allgather' },
    FIRST_MOVE + 2,
    (_, i) => ((i * 7919) % N) + 1,
  );
  expect(moves(results)).toEqual([]);
  expect(codes(results)).toEqual([]);
});
