/**
 * Every collective on a vector longer than any buffer on its way, of a length that no
 * number of ranks divides, from almost nothing to a little beyond δ.
 */
import { describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import { firstDifference, runCollective, type Values } from './run-collective.ts';
import { makeWorld } from './world.ts';

/** Parts of it are several chunks of a socket; in the soak more than its buffers, too. */
const LENGTH = effort({ quick: 300_007, soak: 1_000_003 });

type Place = (entry: number) => number;

/** Entries at places all over the vector; their sum, without a pass over the inputs. */
function spread(ranks: number, count: number, zero: Values): [Values[], Values] {
  const sum = zero.slice();
  const inputs = Array.from({ length: ranks }, (_, rank): Values => {
    const input = zero.slice();
    // Half of a rank's entries are everybody's, half its own.
    const place: Place = (entry) =>
      entry % 2 === 0
        ? (entry * 7919) % LENGTH
        : (entry * 7919 + 31_337 * (rank + 1)) % LENGTH;
    for (let entry = 0; entry < count; entry++) {
      const index = place(entry);
      if (input[index] !== 0) continue;
      input[index] = rank + 1;
      sum[index]! += rank + 1;
    }
    return input;
  });
  return [inputs, sum];
}

/** Several times what a Unix socket holds. */
const LONG = 1_500_007;

/**
 * Unasked messages stay in the sockets, from the first byte on: no collective may count on a peer that
 * keeps what it has not asked for.
 */
describe.each(effort({ quick: [2, 3], soak: [2, 3, 4, 5, 8] }))(
  'P = %d, where nothing is kept',
  (ranks) => {
    test.each(Object.keys(collectiveCases))('%s', async (id) => {
      const limits = { pauseBytes: 0, failBytes: 2 ** 30 };
      await using world = await makeWorld(ranks, { transport: 'native', limits });
      const { kind } = collectiveCases[id]!;
      const inputs = Array.from({ length: ranks }, (_, rank) =>
        new Float32Array(LONG).fill(rank + 1),
      );
      const outcomes = await runCollective(
        collectiveOf(id),
        world.communicators(),
        kind,
        inputs,
      );
      const expected = (ranks * (ranks + 1)) / 2;
      for (const { sum } of outcomes)
        expect(sum.findIndex((value) => value !== expected)).toBe(-1);
    });
  },
);

describe.each(Object.keys(collectiveCases))('%s', (id) => {
  const collective = collectiveOf(id);
  const { kind } = collectiveCases[id]!;

  test.each([
    // δ of a whole stream, exceeded by two; the fewest entries there are.
    [2, 'f32', [1, Math.ceil(LENGTH / 4) + 1]],
    [3, 'f64', [100, 10_000]],
  ] as const)(`P = %d, N = ${LENGTH} of %s`, async (ranks, values, counts) => {
    const zero = values === 'f32' ? new Float32Array(LENGTH) : new Float64Array(LENGTH);
    await using world = await makeWorld(ranks);
    const communicators = world.communicators('sum', values);
    for (const count of kind === 'dense' ? [LENGTH] : counts) {
      const [inputs, expected] = spread(ranks, count, zero);
      const outcomes = await runCollective(collective, communicators, kind, inputs);
      for (const { sum } of outcomes) {
        expect(firstDifference(sum, expected), `${count} entries`).toBe(-1);
      }
    }
  });
});
