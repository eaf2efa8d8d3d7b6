/**
 * The engine of a rank whose gradient has no room in the arena: it lies outside, where another
 * process shares its pages, and has the averages of a gradient that lies inside.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shareMemory, type Place } from '../../../src/agent/bridge/shared-memory.ts';
import { arenaMemory } from '../../../src/agent/memory/arena.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { EngineHere } from '../../../src/agent/worker/engine/engine-client.ts';
import type { EngineCalls } from '../../../src/agent/worker/engine/engine-protocol.ts';
import { element } from './engine-ranks.ts';
import { leastArena } from './least-arena.ts';

const EACH = 600_000;
const TENSORS = ['t', 'u', 'v', 'w'].map((name, i) => ({
  name,
  shape: [EACH],
  start: i * EACH,
  length: EACH,
}));
const LENGTH = TENSORS.length * EACH;
const ITERATIONS = 3;
const PLAN = { method: 'topk', ratio: 0.01, bucketBytes: 4 * EACH };

type Changes = Partial<EngineCalls['connect']['request']>;

async function connect(
  changes: Changes,
): Promise<{ engine: EngineHere; place: Place; isOutside: boolean }> {
  const engine = new EngineHere(() => undefined);
  const memory = arenaMemory();
  const { address } = await engine.call('listen', { host: '127.0.0.1', memory });
  const connected = await engine.call('connect', {
    run: 'test',
    rank: 0,
    seed: 1,
    addresses: [address],
    secret: new Uint8Array(32),
    timeoutMs: 10_000,
    transport: 'tcp',
    threads: 1,
    ownPages: true,
    tensors: TENSORS,
    plan: resolvePlan(PLAN),
    switches: [],
    ...changes,
  });
  const { gradient, outside } = connected;
  expect(gradient === undefined).toBe(outside !== undefined);
  const place =
    outside === undefined
      ? { memory: memory.buffer, offset: gradient!.offset }
      : { memory: outside.buffer, offset: outside.byteOffset };
  return { engine, place, isOutside: outside !== undefined };
}

/** Averages as another process sees them, which has written the gradients. */
async function averages(changes: Changes): Promise<readonly Float32Array[]> {
  const { engine, place } = await connect(changes);
  const memory = await shareMemory(LENGTH, place);
  const shared = openSync(memory.path, 'r+');
  memory.closePath();
  const seen: Float32Array[] = [];
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const values = Float32Array.from({ length: LENGTH }, (_, i) =>
      element(0, iteration, i % 9973),
    );
    writeSync(shared, values, 0, values.byteLength, 0);
    await engine.call('exchange', { iteration, skips: true });
    readSync(shared, values, 0, values.byteLength, 0);
    seen.push(values);
  }
  closeSync(shared);
  await engine.close();
  return seen;
}

const arenaBytes = leastArena([PLAN], { ranks: 1, tensors: TENSORS });

it.skipIf(process.platform !== 'linux')(
  'shares its pages with another process',
  async () => {
    const outside = await averages({ arenaBytes, mayUseWindows: true });
    expect(outside).toEqual(await averages({}));
    expect(outside[0]!.filter((value) => value !== 0)).toHaveLength(LENGTH / 100);
  },
);

it('lies outside only where it has no room, and may', async () => {
  const cases: readonly (readonly [Changes, boolean])[] = [
    [{ arenaBytes, mayUseWindows: true }, true],
    [{ arenaBytes }, false],
    [{ mayUseWindows: true }, false],
  ];
  for (const [changes, isOutside] of cases) {
    const { engine, ...connected } = await connect(changes);
    expect(connected.isOutside).toBe(isOutside);
    await engine.close();
  }
});
