/** Groups of ranks by the engine's public entry, and payloads for them. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect } from 'vitest';
import { RankSeat, type RankGroup } from '../../../src/agent/engine.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { openSockets } from './open-sockets.ts';
import { memoryOf } from './world.ts';

const open: RankGroup[] = [];

/** Ends the groups of each test of the file, and looks for sockets that are open. */
export function closesGroups(): void {
  afterEach(async () => {
    await leaveGroups();
    await expect.poll(openSockets).toEqual([]);
  });
}

/** Ends the groups that are open. */
export async function leaveGroups(): Promise<void> {
  await Promise.all(open.splice(0).map((group) => group[Symbol.asyncDispose]()));
}

export async function groups(size: number): Promise<readonly RankGroup[]> {
  const seats = await Promise.all(
    Array.from({ length: size }, () => RankSeat.listen('127.0.0.1')),
  );
  const addresses = seats.map(({ address }) => address);
  const secret = randomBytes(32);
  const joined = await Promise.all(
    seats.map((seat, rank) => {
      const { arena, wasm } = memoryOf(rank);
      const kernels = { arena, kernels: wasm };
      return seat.join({
        rank,
        addresses,
        runId: 'group',
        secret,
        kernels,
        timeoutMs: 60_000,
      });
    }),
  );
  open.push(...joined);
  return joined;
}

export const dense = (group: RankGroup, values: Float64Array) => {
  const { offset, bytes } = group.arena.allocate(values.byteLength);
  const vector = { offset, length: values.length };
  group.arena.f64(vector).set(values);
  return { kind: 'dense', length: values.length, data: { offset, bytes } } as const;
};

/** k entries of random integers. */
export function entries(
  { arena }: RankGroup,
  k: number,
  random: () => number,
): Payload {
  const indices = Array.from(
    { length: k },
    (_, i) => 40 * i + Math.floor(40 * random()),
  );
  const data = arena.allocate(8 * k);
  arena.u32(data.offset, k).set(indices);
  const values = { offset: data.offset + 4 * k, length: k };
  arena.f32(values).set(indices.map(() => Math.floor(200 * random()) - 100.5));
  return { kind: 'sparse', length: 40 * k, count: k, data };
}
