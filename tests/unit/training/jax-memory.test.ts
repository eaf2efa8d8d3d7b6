/**
 * jax-js, as in our bundles, computing in the memory of an arena: both take stretches of it,
 * and a moved array shows what is written where it lies.
 */
import type * as Jax from '@jax-js/jax';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { Arena, arenaMemory, type Region } from '../../../src/agent/memory/arena.ts';

type Movable = Jax.Array & {
  movedTo(memory: WebAssembly.Memory, offset: number): Jax.Array | undefined;
};

const arena = new Arena(arenaMemory());
let jax: typeof Jax;

beforeAll(async () => {
  vi.resetModules();
  Object.assign(globalThis, { jaxMemory: arena.memory });
  jax = await import('@jax-js/jax');
  await jax.init('wasm');
  jax.defaultDevice('wasm');
});

afterAll(() => {
  Object.assign(globalThis, { jaxMemory: undefined });
  vi.resetModules();
});

const array = (values: Float32Array<ArrayBuffer>): Movable =>
  jax.numpy.array(values) as Movable;

test('a moved array has the values at its place, now and later', async () => {
  const place = arena.allocateVector(1000);
  const values = arena.f32(place);
  values.fill(3);
  const moved = array(new Float32Array(1000).fill(1)).movedTo(
    arena.memory,
    place.offset,
  )!;
  expect(await moved.ref.add(1).data()).toEqual(new Float32Array(1000).fill(4));
  const double = jax.jit((x: Jax.Array) => x.mul(2));
  values.fill(5);
  expect(await double(moved.ref).data()).toEqual(new Float32Array(1000).fill(10));
  values.fill(6);
  expect(await double(moved.ref).data()).toEqual(new Float32Array(1000).fill(12));
  moved.dispose();
  // What was there is the arena's.
  expect(values.every((value) => value === 6)).toBe(true);
  array(new Float32Array(1000).fill(7)).dispose();
  expect(values.every((value) => value === 6)).toBe(true);
});

test('an array does not move to other memory', async () => {
  const other = array(new Float32Array([1, 2, 3]));
  expect(other.movedTo(arenaMemory(), 65_536)).toBeUndefined();
  expect(await other.data()).toEqual(new Float32Array([1, 2, 3]));
});

test('neither writes to what the other has taken, in whatever order they take it', async () => {
  const random = new CounterRandom({ seed: 3 });
  let drawn = 0;
  const below = (limit: number): number => Math.floor(random.uniform(drawn++) * limit);
  const arrays = new Map<number, Movable>();
  const regions = new Map<number, Region>();
  const written = (seal: number, length: number): Float32Array<ArrayBuffer> =>
    new Float32Array(length).fill(seal);
  for (let seal = 1; seal <= 400; seal++) {
    // Below and above a page, and some of many pages.
    const length = 1 + below(seal % 10 === 0 ? 400_000 : 20_000);
    if (below(2) === 0) arrays.set(seal, array(written(seal, length)));
    else {
      const region = arena.allocate(4 * length);
      arena.f32({ ...region, length: region.bytes >> 2 }).fill(seal);
      regions.set(seal, region);
    }
    if (seal % 3 !== 0) continue;
    const old = 1 + below(seal);
    arrays.get(old)?.dispose();
    arrays.delete(old);
    const region = regions.get(old);
    if (region !== undefined) arena.release(region);
    regions.delete(old);
  }
  for (const [seal, region] of regions) {
    const values = arena.f32({ ...region, length: region.bytes >> 2 });
    expect(values.every((value) => value === seal)).toBe(true);
  }
  for (const [seal, one] of arrays) {
    expect((await one.data()).every((value) => value === seal)).toBe(true);
  }
});
