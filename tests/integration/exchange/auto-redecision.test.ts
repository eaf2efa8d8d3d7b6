/**
 * `auto` under a wrong assumption, by engines of eight ranks over real sockets: all of them
 * move at the same exchange. A rank that moved alone would be caught at once, for every
 * message's header names the collective.
 */
import { afterEach, expect, test } from 'vitest';
import type { ExchangeResult } from '../../../src/agent/exchange/exchange-calls.ts';
import { WINDOW } from '../../../src/agent/auto/exchange-review.ts';
import { connectRanks, leave } from './engine-ranks.ts';

const P = 8;
const N = 50_000;
/** Bytes dominate, whatever this machine's times make of the constants. */
const NETWORK = { alpha: 1e-6, beta: 10e-9, gamma: 1e-10, merge: 1e-9, scatter: 1e-9 };
/** Two to settle, a window, one more to agree on the last of it. */
const FIRST_MOVE = 2 + WINDOW + 1;

afterEach(leave);

/** Results of every rank, by iteration. */
async function run(
  exchange: Record<string, unknown>,
  iterations: number,
  element: (rank: number, i: number) => number,
): Promise<readonly (readonly ExchangeResult[])[]> {
  const ranks = await connectRanks(exchange, [], P, {
    tensors: [{ name: 'w', shape: [N], start: 0, length: N }],
    network: NETWORK,
  });
  const results: ExchangeResult[][] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    results.push(
      await Promise.all(
        ranks.map(async ({ engine, arena, gradient }, rank) => {
          await engine.fence(iteration);
          const values = arena.f32(gradient);
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
  expect(told?.message).toMatch(/^auto moved bucket 0 from dsar-split-allgather to /);
  // K of a dense result is estimated from a sample.
  expect(told?.message).toMatch(/k = 4,500, K = 4,[45]\d\d, P = 8 \(K = 26,4\d\d was/);
});

test('a threshold that sends everything, not the little that was estimated', async () => {
  const results = await run(
    { method: 'threshold', threshold: 0.5 },
    FIRST_MOVE + 2,
    (rank, i) => ((i + rank) % 10) + 1,
  );
  expect(moves(results)).toEqual([FIRST_MOVE]);
  const [, changed] = results.flatMap(([first]) => first!.notices);
  expect(changed?.message).toContain('k = 50,000, K = 50,000, P = 8');
});

test('more values than the method expects: moves once, and gives the reason', async () => {
  // At the start of its ramp a rank sends half of the entries; 5 are what is left in the end.
  const results = await run(
    { method: 'randomk', ratio: 1e-4, rampIterations: 100_000, rampFrom: 0.5 },
    FIRST_MOVE + 2,
    (rank, i) => ((i + rank) % 10) + 1,
  );
  expect(results[0]![0]!.notices[0]!.message).toContain(
    'N = 50,000, 20 bytes to sum, P = 8',
  );
  expect(results[0]![0]!.collective).toBe('recursive-doubling');
  expect(moves(results)).toEqual([FIRST_MOVE]);
  const [, changed] = results.flatMap(([first]) => first!.notices);
  expect(changed?.message).toMatch(
    /^auto moved bucket 0 from recursive-doubling to .* after observing N = 50,000, 99,9\d\d bytes to sum, P = 8 \(20 bytes were assumed\)/,
  );
});

test('a warm-up is carried by its own size, and changes no assumption', async () => {
  const warmupIterations = 2 + WINDOW + 4;
  const results = await run(
    { method: 'randomk', ratio: 1e-4, warmupIterations },
    warmupIterations + WINDOW + 4,
    (rank, i) => ((i + rank) % 10) + 1,
  );
  const [first] = results[0]!;
  // 200 kB are bound by bandwidth, 20 bytes by latency.
  expect(first!.collective).not.toBe('recursive-doubling');
  expect(first!.bytes.payload).toBe(4 * N);
  expect(moves(results)).toEqual([warmupIterations]);
  expect(results.at(-1)![0]!.collective).toBe('recursive-doubling');
  expect(codes(results)).toEqual(['COLLECTIVE_CHOSEN']);
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
