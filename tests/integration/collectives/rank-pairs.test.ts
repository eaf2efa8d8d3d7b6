/** Pairs of scores of several ranks, against all scores in one place and a rank-sum formula. */
import { expect, test } from 'vitest';
import { PART, rankPairs } from '../../../src/agent/collectives/rank-pairs.ts';
import { smallAllreduce } from '../../../src/agent/collectives/small-allreduce.ts';
import { effort } from '../../harness/effort.ts';
import { closesSockets } from './open-sockets.ts';
import { makeWorld } from './world.ts';

closesSockets();

interface Share {
  readonly staying: Float32Array;
  readonly travelling: Float32Array;
}

/** Counted over all ranks, as each rank is told. */
async function counted(shares: readonly Share[]): Promise<readonly number[]> {
  await using world = await makeWorld(shares.length);
  return await Promise.all(
    world.communicators().map(async (communicator, rank) => {
      const { arena } = communicator;
      const placed = (scores: Float32Array) => {
        const vector = arena.allocateVector(scores.length);
        arena.f32(vector).set(scores.toSorted());
        return vector;
      };
      const { staying, travelling } = shares[rank]!;
      const scores = { staying: placed(staying), travelling: placed(travelling) };
      const begin = (operation: number) =>
        communicator.begin({ epoch: 0, operation, dtype: 0 });
      const longest = Math.max(...shares.map((share) => share.travelling.length));
      const own = await rankPairs.run(begin(rankPairs.code), scores, longest);
      return (await smallAllreduce(begin(0), [own], ['sum']))[0]!;
    }),
  );
}

/** Each pair by itself. */
function pairByPair(shares: readonly Share[]): number {
  const staying = shares.flatMap((share) => [...share.staying]);
  const travelling = shares.flatMap((share) => [...share.travelling]);
  let pairs = 0;
  for (const low of staying) {
    for (const high of travelling) pairs += low < high ? 1 : low === high ? 0.5 : 0;
  }
  return pairs;
}

/** Mann and Whitney's U from the ranks of the travelling scores among all, ties averaged. */
function byRanks(shares: readonly Share[]): number {
  const travelling = shares.flatMap((share) => [...share.travelling]);
  const all = shares.flatMap((share) => [...share.staying]).concat(travelling);
  all.sort((a, b) => a - b);
  const rankOf = new Map<number, number>();
  for (let i = 0, end = 0; i < all.length; i = end) {
    while (end < all.length && all[end] === all[i]) end++;
    rankOf.set(all[i]!, (i + end + 1) / 2);
  }
  const n = travelling.length;
  return travelling.reduce((sum, x) => sum + rankOf.get(x)!, 0) - (n * (n + 1)) / 2;
}

/** In a fixed order without a pattern; few values where ties are wanted. */
const drawn = (count: number, salt: number, values: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => {
    const noise = ((i + 1) * 0.618_033_988_749 + salt * 0.377) % 1;
    return Math.floor(noise * values) / values;
  });

const UNEVEN = [120, 1, 0, 57];

test.each([1, 2, 3, 4])('P = %d: every pair once, wherever it is', async (ranks) => {
  const shares = UNEVEN.slice(0, ranks).map((count, rank) => ({
    staying: drawn(count, rank, 40),
    travelling: drawn(UNEVEN[ranks - 1 - rank]!, rank + 9, 40),
  }));
  const expected = pairByPair(shares);
  expect(await counted(shares)).toEqual(shares.map(() => expected));
});

test('nothing to compare, equal scores, zeros of both signs, and the ends', async () => {
  const none = new Float32Array();
  const one = Float32Array.of(1);
  const count = async (...shares: readonly (readonly [Float32Array, Float32Array])[]) =>
    await counted(shares.map(([staying, travelling]) => ({ staying, travelling })));
  expect(await count([none, one], [none, none])).toEqual([0, 0]);
  expect(await count([one, none], [none, one])).toEqual([0.5, 0.5]);
  const zeros = Float32Array.of(-0, 0, -1e-45, 1e-45);
  expect(await count([zeros, none], [none, Float32Array.of(-0, 0)])).toEqual([4, 4]);
  const ends = Float32Array.of(-Infinity, Infinity, 3e38);
  expect(await count([ends, none], [none, ends], [none, none])).toEqual([
    4.5, 4.5, 4.5,
  ]);
});

const MANY = effort({ quick: 150_000, soak: 1_000_000 });

test(`${MANY} samples on four ranks, in several parts`, async () => {
  const shares = [0.7, 0.01, 0.2, 0.09].map((share, rank) => ({
    staying: drawn(Math.round(0.7 * share * MANY), rank, 1e6),
    travelling: drawn(Math.round(0.7 * share * MANY), rank + 5, 1e6),
  }));
  expect(shares[0]!.travelling.length).toBeGreaterThan(PART);
  const expected = byRanks(shares);
  expect(await counted(shares)).toEqual(shares.map(() => expected));
});
