/**
 * A rank alone, with no one to talk to: what `encode` leaves, as bytes, decodes to what an
 * exchange in a world of one gives. Files of payloads depend on it.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { findMethod } from '../../../src/agent/methods/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { LoneCompressor } from './lone-compressor.ts';
import { openInArena } from './open-in-arena.ts';
import { SimulatedWorld } from './simulated-world.ts';

const LENGTH = 600;

describe.each<[string, JsonObject]>([
  ['nonzero', {}],
  ['blockcd', { k: 9 }],
  ['topk', { k: 7, bucket: 64 }],
  ['randomk', { ratio: 0.1 }],
  ['randomk', { ratio: 0.1, rampIterations: 3 }],
  ['threshold', { threshold: 0.9 }],
  ['threshold', { threshold: 1000 }],
  ['gaussiank', { ratio: 0.1, warmupIterations: 1 }],
  ['dct', { ratio: 0.1 }],
  ['dgc', { ratio: 0.1 }],
  ['scalecom', { ratio: 0.1 }],
  ['scalecom', { ratio: 0.1, warmupIterations: 1 }],
  ['powersgd', { rank: 2 }],
])('%s %j', (method, parameters) => {
  it('decodes alone what it encoded', async () => {
    const alone = new LoneCompressor({ method, parameters, tensors: [LENGTH] });
    const world = new SimulatedWorld({
      method,
      parameters,
      ranks: 1,
      length: LENGTH,
      makeKernels: (arena) => backends.wasm(arena).kernels,
    });
    for (let iteration = 0; iteration < 4; iteration++) {
      const gradient = bellShaped(LENGTH, iteration + 1);
      const [expected] = await world.exchange(iteration, [gradient]);
      expect(await alone.roundTrip(gradient, iteration)).toEqual(expected);
    }
  });
});

it('powersgd of a matrix: both factors are in its bytes', async () => {
  const { arena, kernels } = backends.wasm();
  const allocate = (): { offset: number; length: number } => ({
    offset: arena.allocateVector(LENGTH).offset,
    length: LENGTH,
  });
  const residual = allocate();
  kernels.fill(residual, 0);
  const tensors = [{ name: 'w', start: 0, length: LENGTH, shape: [20, 30] }];
  const context = {
    length: LENGTH,
    tensors,
    parameters: { rank: 2, warmStart: true, warmupIterations: 0 },
    seed: 1,
    rank: 0,
    world: 1,
    bucket: 0,
    residual,
  };
  const gradient = allocate();
  const method = findMethod('powersgd');
  using compressor = openInArena({ arena, kernels, method, context, gradient });
  arena.f32(gradient).set(bellShaped(LENGTH));
  const { data } = await compressor.encode(0);
  expect(data.bytes).toBe(4 * 2 * (20 + 30));
  const sent = arena.allocate(data.bytes);
  const region = { offset: sent.offset, bytes: data.bytes };
  arena.u8(region.offset, region.bytes).set(arena.u8(data.offset, data.bytes));
  const { data: sum } = compressor.parse(region, 0);
  await compressor.decode({ form: 'dense', data: sum }, 0);
  const world = new SimulatedWorld({
    method: 'powersgd',
    ranks: 1,
    length: LENGTH,
    tensors,
    makeKernels: (one) => backends.wasm(one).kernels,
  });
  const [expected] = await world.exchange(0, [bellShaped(LENGTH)]);
  expect(arena.f32(gradient).slice()).toEqual(expected);
});
