import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { drawDigits } from '../../../src/agent/training/datasets/digit-drawing.ts';
import { digits } from '../../../src/agent/training/datasets/digits.ts';
import {
  digitLabel,
  digitPixels,
  DigitRenderer,
} from './digit-reference/digit-image.ts';

test.each([5, 20_261_120, 2 ** 32 - 1])(
  'the images of seed %i are those of the reference, byte for byte',
  (seed) => {
    const series = { first: 2 ** 20, step: 3, count: 400 };
    const [drawn] = drawDigits(seed, [series]);
    const renderer = new DigitRenderer();
    const expected = new Uint8Array(digitPixels);
    for (let j = 0; j < series.count; j++) {
      const sample = series.first + j * series.step;
      renderer.render(seed, sample, expected, 0);
      const image = drawn!.values.subarray(j * digitPixels, (j + 1) * digitPixels);
      expect(image, `sample ${sample}`).toEqual(expected);
      expect(drawn!.labels[j], `sample ${sample}`).toBe(digitLabel(seed, sample));
    }
  },
);

test('a sample does not depend on what is drawn with it', () => {
  const [all] = drawDigits(5, [{ first: 0, step: 1, count: 40 }]);
  const [early, late] = drawDigits(5, [
    { first: 30, step: 1, count: 10 },
    { first: 0, step: 1, count: 30 },
  ]);
  expect(late!.values).toEqual(all!.values.subarray(0, 30 * digitPixels));
  expect(early!.values).toEqual(all!.values.subarray(30 * digitPixels));
  expect(early!.labels).toEqual(all!.labels.subarray(30));
});

test('a series may be empty', () => {
  expect(drawDigits(5, [{ first: 3, step: 4, count: 0 }])).toEqual([
    { count: 0, values: new Uint8Array(), labels: new Uint8Array() },
  ]);
});

test('the embedded set is 8,000 + 2,000 images that never change', async () => {
  expect(digits.inspect({})).toEqual({ train: 8000, test: 2000 });
  const { train, test } = await digits.open({ rank: 0, world: 1 });
  expect(train.values.length).toBe(8000 * digitPixels);
  expect(test.values.length).toBe(2000 * digitPixels);
  // Accuracies of past runs can be compared only while these stay. They change with any
  // change of datasets/assembly/ or digit-strokes.ts; then say so in the changelog.
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
