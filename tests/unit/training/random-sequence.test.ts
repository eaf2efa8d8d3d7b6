import { expect, test } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import {
  purposes,
  RandomSequence,
} from '../../../src/agent/training/runtime/random-sequence.ts';

const name = { seed: 7, rank: 3, bucket: 1, iteration: 9, purpose: 5 };

test('a stream reads the project’s generator in order', () => {
  const stream = new RandomSequence(name);
  const counter = new CounterRandom(name);
  for (let index = 0; index < 50; index++) {
    expect(stream.word()).toBe(counter.bits(index));
  }
});

test('renaming begins another stream, whatever was drawn before', () => {
  const stream = new RandomSequence({ seed: 1 });
  stream.word();
  stream.rename(name);
  expect(stream.word()).toBe(new RandomSequence(name).word());
});

test('every part of the name and every purpose gives other numbers', () => {
  const names = [
    name,
    { ...name, seed: 8 },
    { ...name, rank: 4 },
    { ...name, bucket: 2 },
    { ...name, iteration: 10 },
    ...Object.values(purposes).map((purpose) => ({ ...name, purpose })),
  ];
  const first = names.map((each) => new RandomSequence(each).word());
  expect(new Set(first).size).toBe(names.length);
});

test('bell has mean 0 and deviation 1 within five standard errors, and is bounded', () => {
  const stream = new RandomSequence({ seed: 3 });
  const count = 100_000;
  let sum = 0;
  let squares = 0;
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const value = stream.bell();
    sum += value;
    squares += value * value;
    largest = Math.max(largest, Math.abs(value));
  }
  expect(Math.abs(sum / count)).toBeLessThan(5 / Math.sqrt(count));
  // The fourth moment of a sum of four uniforms is 2.7, so the variance of z² is 1.7.
  expect(Math.abs(squares / count - 1)).toBeLessThan(5 * Math.sqrt(1.7 / count));
  expect(largest).toBeLessThanOrEqual(2 * Math.sqrt(3));
});

test('below yields every whole number under n, and none else', () => {
  const stream = new RandomSequence({ seed: 4 });
  const seen = new Set(Array.from({ length: 500 }, () => stream.below(7)));
  expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test.each([0, 1, 3])('bells are one bell after another, from word %i on', (words) => {
  const [together, apart] = [1, 2].map(
    () => new RandomSequence({ seed: 5, bucket: 1 }),
  );
  for (let i = 0; i < words; i++) expect(together!.word()).toBe(apart!.word());
  const out = new Float32Array(9);
  together!.bells(out, 0.3);
  expect(out).toEqual(Float32Array.from(out, () => 0.3 * apart!.bell()));
  expect(together!.word()).toBe(apart!.word());
});
