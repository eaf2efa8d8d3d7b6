import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { shapes } from '../../../src/agent/training/datasets/shapes.ts';

const PIXELS = 32 * 32 * 3;

test('shards of any number of ranks are the same images', async () => {
  const images = new Map<number, string>();
  const hashOf = (values: Uint8Array, j: number): string =>
    createHash('sha256')
      .update(values.subarray(j * PIXELS, (j + 1) * PIXELS))
      .digest('hex');
  const { test: whole } = await shapes.open({ rank: 5, world: 8 });
  expect(whole.count).toBe(125);
  for (let j = 0; j < whole.count; j++) images.set(j, hashOf(whole.values, j));
  expect(new Set(images.values()).size).toBe(125);
  const { train, test: part } = await shapes.open({ rank: 5, world: 40 });
  expect([train.count, part.count]).toEqual([200, 25]);
  const own = new Set(images.values());
  for (let j = 0; j < part.count; j++) {
    expect(hashOf(part.values, j)).toBe(images.get(5 * j));
    expect(part.labels[j]).toBe(whole.labels[5 * j]);
  }
  for (let j = 0; j < train.count; j++)
    expect(own).not.toContain(hashOf(train.values, j));
});

test('all ten kinds are about equally frequent, also within a shard', async () => {
  const { train } = await shapes.open({ rank: 0, world: 4 });
  const counts = new Array<number>(10).fill(0);
  for (const label of train.labels) counts[label] = counts[label]! + 1;
  for (const count of counts) expect(Math.abs(count - 200)).toBeLessThan(60);
});

test('a figure differs from its ground, and both have noise', async () => {
  const { test: part } = await shapes.open({ rank: 0, world: 100 });
  const deviations = Array.from({ length: part.count }, (_, j) => {
    const red = Array.from(
      { length: 1024 },
      (__, i) => part.values[j * PIXELS + 3 * i]!,
    );
    const mean = red.reduce((a, b) => a + b) / red.length;
    return Math.sqrt(red.reduce((sum, v) => sum + (v - mean) ** 2, 0) / red.length);
  });
  expect(Math.min(...deviations)).toBeGreaterThan(10);
  expect(Math.max(...deviations)).toBeGreaterThan(45);
});
