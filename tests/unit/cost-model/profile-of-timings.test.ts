/** What a network profile keeps of what its ranks timed. */
import { expect, test } from 'vitest';
import { profileOf } from '../../../src/agent/probe/measure-network.ts';
import type { RankTimings } from '../../../src/agent/probe/probe-order.ts';

/** Constants of a link on which n bytes take 1 µs and n ns. */
const messages = [8, 2 ** 16, 2 ** 20].map((bytes) => ({
  bytes,
  seconds: [1e-6 + 1e-9 * bytes],
}));
const kernels = {
  add: 1e-9,
  merge: 3e-9,
  scatter: 2e-9,
  select: 1e-9,
  quantize: 1e-9,
  dequantize: 1e-9,
};
const timed = (seconds: readonly number[]): RankTimings => ({
  pairs: [{ ranks: [0, 1], messages }],
  loaded: [{ ranks: 2, messages, bursts: messages }],
  kernels,
  collectives: [{ collective: 'ring', length: 1024, seconds }],
});

test('of a collective: the lower quartile, by repetition of the rank that took longest', () => {
  const profile = profileOf([timed([1, 9, 3, 40, 5]), timed([8, 2, 7, 4, 6])], {
    transport: 'tcp',
    nodes: ['a', 'a'],
    measuredAt: 0,
    cores: 2,
  });
  // The slowest by repetition: 8, 9, 7, 40, 6.
  expect(profile.collectives).toMatchObject([
    { collective: 'ring', ranks: 2, length: 1024, seconds: 7 },
  ]);
});
