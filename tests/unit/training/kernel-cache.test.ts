import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  KernelCache,
  type KernelCode,
} from '../../../src/agent/training/runtime/kernel-cache.ts';

const never = (): KernelCode => {
  throw new Error('the kernel is known');
};
const kernel = (): KernelCode => ({
  bytes: Uint8Array.of(1, 2, 3),
  workSize: 7,
  minWorkPerWorker: undefined,
});

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-kernels-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

it('gives the next process what one has made', () => {
  expect(new KernelCache(directory).get('a', kernel)).toEqual(kernel());
  const { bytes, ...properties } = new KernelCache(directory).get('a', never);
  expect([...bytes]).toEqual([1, 2, 3]);
  expect(properties).toEqual({ workSize: 7 });
  expect(readdirSync(directory)).toEqual(['a']);
});

it('tells kernels apart', () => {
  const cache = new KernelCache(directory);
  cache.get('a', kernel);
  const other = { bytes: Uint8Array.of(9), workSize: 1 };
  expect(cache.get('b', () => other)).toEqual(other);
  expect([...cache.get('a', never).bytes]).toEqual([1, 2, 3]);
});

it.each([0, 3, 11, 20])('makes a kernel again that was cut at byte %i', (length) => {
  const cache = new KernelCache(directory);
  cache.get('a', kernel);
  truncateSync(path.join(directory, 'a'), length);
  expect(cache.get('a', kernel)).toEqual(kernel());
  expect([...cache.get('a', never).bytes]).toEqual([1, 2, 3]);
});

it('makes a kernel again whatever bit of it has changed', () => {
  const cache = new KernelCache(directory);
  const file = path.join(directory, 'a');
  cache.get('a', kernel);
  const whole = readFileSync(file);
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, damaged);
    expect(cache.get('a', kernel), `bit ${bit}`).toEqual(kernel());
    expect(readFileSync(file), `bit ${bit}`).toEqual(whole);
  }
});

it('starts over when it has grown large', () => {
  for (let i = 0; i <= 4096; i++) writeFileSync(path.join(directory, `${i}`), '');
  new KernelCache(directory).get('a', kernel);
  expect(readdirSync(directory)).toEqual(['a']);
});

it('is as good as empty where nothing can be kept', () => {
  writeFileSync(path.join(directory, 'a'), '');
  const cache = new KernelCache(path.join(directory, 'a', 'below a file'));
  expect(cache.get('b', kernel)).toEqual(kernel());
  expect(cache.get('b', kernel)).toEqual(kernel());
});
