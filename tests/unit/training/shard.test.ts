import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  testShard,
  trainShard,
  type Shard,
} from '../../../src/agent/training/datasets/shard.ts';

const samplesOf = (shard: Shard) =>
  Array.from({ length: shard.count }, (_, j) => shard.sampleAt(j));

const worlds = fc.tuple(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: 20 }),
);

test('training shards are disjoint, equal in size, and lose less than one round', () => {
  fc.assert(
    fc.property(worlds, ([total, world]) => {
      fc.pre(total >= world);
      const shards = Array.from({ length: world }, (_, rank) =>
        trainShard(total, rank, world),
      );
      const samples = shards.flatMap(samplesOf);
      expect(new Set(shards.map((shard) => shard.count)).size).toBe(1);
      expect(new Set(samples).size).toBe(samples.length);
      expect(total - samples.length).toBeLessThan(world);
      expect(Math.max(...samples)).toBeLessThan(total);
    }),
  );
});

test('test shards are disjoint and cover everything', () => {
  fc.assert(
    fc.property(worlds, ([total, world]) => {
      const samples = Array.from({ length: world }, (_, rank) =>
        samplesOf(testShard(total, rank, world)),
      ).flat();
      expect(samples.sort((a, b) => a - b)).toEqual(
        Array.from({ length: total }, (_, i) => i),
      );
    }),
  );
});

test('placeOf is the inverse of sampleAt, and −1 elsewhere', () => {
  const shard = trainShard(103, 2, 4);
  const places = Array.from({ length: 120 }, (_, sample) => shard.placeOf(sample));
  expect(places.filter((place) => place >= 0)).toEqual(
    samplesOf(shard).map((_, j) => j),
  );
  for (const [j, sample] of samplesOf(shard).entries()) expect(places[sample]).toBe(j);
});

test('fewer samples than ranks is the user’s error', () => {
  expect(() => trainShard(3, 0, 4)).toThrow(
    expect.objectContaining({ code: 'DATA_TOO_FEW_SAMPLES', kind: 'input' }),
  );
});
