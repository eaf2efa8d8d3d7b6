/**
 * What a rank's arena takes at its peak, at P = 8 and N = 4 M: at most 6·4·N bytes + 64 MB,
 * vector or stream included. Here one bucket is carried by one collective after the other, in
 * arenas that never shrink: the limit holds for each and for all together.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { makeWorld, type World } from './world.ts';

const RANKS = 8;
const LENGTH = 4 * 2 ** 20;
const LIMIT = 6 * 4 * LENGTH + 64e6;
/** Every tenth entry, of each rank another: sparse results fill in to four fifths. */
const STEP = 10;

let world: World;
let communicators: readonly TransportCommunicator[];
beforeAll(async () => {
  world = await makeWorld(RANKS);
  communicators = world.communicators();
});
afterAll(() => world[Symbol.asyncDispose]());

function payloadOf({ arena, rank }: TransportCommunicator, sparse: boolean): Payload {
  if (!sparse) {
    const { offset, bytes } = arena.allocate(4 * LENGTH);
    arena.f32({ offset, length: LENGTH }).fill(1);
    return { kind: 'dense', length: LENGTH, data: { offset, bytes } };
  }
  const count = Math.floor((LENGTH - rank) / STEP);
  const data = arena.allocate(8 * count);
  const indices = arena.u32(data.offset, count);
  for (let i = 0; i < count; i++) indices[i] = STEP * i + rank;
  const values = { offset: data.offset + 4 * count, length: count };
  arena.f32(values).fill(rank + 1);
  return { kind: 'sparse', length: LENGTH, count, data };
}

const kinds = [...collectives.values()].flatMap((collective) =>
  (['dense', 'sparse'] as const)
    .filter((kind) => collective.takes.includes(kind))
    .map((kind) => [collective, kind] as const),
);

test.each(kinds)('$0.id of $1 vectors', async (collective, kind) => {
  await Promise.all(
    communicators.map(async (communicator) => {
      const { arena } = communicator;
      const payload = payloadOf(communicator, kind === 'sparse');
      const { code: operation } = collective;
      communicator.begin({ epoch: 0, operation, dtype: 1 });
      await collective.run(communicator, payload);
      arena.release(payload.data);
      expect(arena.buffer.byteLength).toBeLessThan(LIMIT);
    }),
  );
});
