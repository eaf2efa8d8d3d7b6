import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  digitLabel,
  digitPixels,
  DigitRenderer,
} from '../../../src/agent/training/datasets/digit-image.ts';
import { digits } from '../../../src/agent/training/datasets/digits.ts';

test('a sample is a pure function of seed and index', () => {
  const forwards = new Uint8Array(40 * digitPixels);
  const backwards = new Uint8Array(40 * digitPixels);
  const renderer = new DigitRenderer();
  for (let i = 0; i < 40; i++) renderer.render(5, i, forwards, i * digitPixels);
  for (let i = 39; i >= 0; i--) {
    new DigitRenderer().render(5, i, backwards, i * digitPixels);
  }
  expect(backwards).toEqual(forwards);

  const other = new Uint8Array(40 * digitPixels);
  for (let i = 0; i < 40; i++) renderer.render(6, i, other, i * digitPixels);
  expect(other).not.toEqual(forwards);
});

test('drawing a sample touches its own pixels only', () => {
  const out = new Uint8Array(3 * digitPixels).fill(77);
  new DigitRenderer().render(5, 0, out, digitPixels);
  expect(out.subarray(0, digitPixels).every((value) => value === 77)).toBe(true);
  expect(out.subarray(2 * digitPixels).every((value) => value === 77)).toBe(true);
});

test('the embedded set is 8,000 + 2,000 images that never change', async () => {
  expect(digits.inspect(undefined)).toEqual({ train: 8000, test: 2000 });
  const { train, test } = await digits.open({ rank: 0, world: 1 });
  expect(train.values.length).toBe(8000 * digitPixels);
  expect(test.values.length).toBe(2000 * digitPixels);
  // Accuracies of past runs can be compared only while these stay. They change with any
  // change of digit-image.ts or digit-strokes.ts; then say so in the changelog.
  expect([
    crc32(train.values),
    crc32(train.labels),
    crc32(test.values),
    crc32(test.labels),
  ]).toMatchInlineSnapshot(`
    [
      2267415981,
      687278905,
      4164088447,
      3004405916,
    ]
  `);
});

test('every digit is drawn about equally often, dark enough to be seen', async () => {
  const { train } = await digits.open({ rank: 0, world: 1 });
  const counts = new Array<number>(10).fill(0);
  for (const label of train.labels) counts[label]!++;
  // Five standard errors of a binomial with p = 1/10.
  for (const count of counts) expect(Math.abs(count - 800)).toBeLessThan(5 * 27);

  for (let sample = 0; sample < train.count; sample++) {
    const image = train.values.subarray(
      sample * digitPixels,
      (sample + 1) * digitPixels,
    );
    const ink = image.reduce((sum, value) => sum + (value > 100 ? 1 : 0), 0);
    expect(ink, `ink of sample ${sample}`).toBeGreaterThan(12);
    expect(ink, `ink of sample ${sample}`).toBeLessThan(400);
  }
});

test.each([1, 3, 4, 10])('%i ranks draw the whole set between them', async (world) => {
  const whole = await digits.open({ rank: 0, world: 1 });
  for (const part of ['train', 'test'] as const) {
    let drawn = 0;
    for (const rank of [0, world - 1]) {
      const shard = (await digits.open({ rank, world }))[part];
      drawn = shard.count;
      for (const j of [0, 1, shard.count - 1]) {
        const sample = rank + j * world;
        expect(shard.labels[j]).toBe(whole[part].labels[sample]);
        expect(shard.values.subarray(j * digitPixels, (j + 1) * digitPixels)).toEqual(
          whole[part].values.subarray(sample * digitPixels, (sample + 1) * digitPixels),
        );
      }
    }
    expect(drawn).toBe(Math.floor(whole[part].count / world));
  }
});

test('labels can be had without drawing', async () => {
  const { train } = await digits.open({ rank: 1, world: 4 });
  const labels = Array.from({ length: 20 }, (_, j) => train.labels[j]);
  const seeds = Array.from({ length: 20 }, (_, j) => digitLabel(20_261_120, 1 + 4 * j));
  expect(labels).toEqual(seeds);
});
