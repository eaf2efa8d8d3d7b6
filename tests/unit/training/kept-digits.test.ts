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
import { writeChecked } from '../../../src/agent/bundle/checked-file.ts';
import {
  digitPixels,
  drawDigits,
} from '../../../src/agent/training/datasets/digit-drawing.ts';
import { keptDigits } from '../../../src/agent/training/datasets/kept-digits.ts';

const SEED = 5;
const TRAIN = { first: 1, step: 3, count: 4 };
const TEST = { first: 100, step: 3, count: 2 };
const drawn = drawDigits(SEED, [TRAIN, TEST]);

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'gradwire-digits-'));
});

afterEach(() => {
  rmSync(parent, { recursive: true });
});

const digits = () => keptDigits(SEED, [TRAIN, TEST], parent);
const directory = (): string => path.join(parent, readdirSync(parent)[0]!);
const fileOf = ({ first, step, count }: typeof TRAIN): string =>
  path.join(directory(), `${SEED}-${first}-${step}-${count}`);

it('draws what is not kept, and keeps it', () => {
  expect(digits()).toEqual(drawn);
  expect(digits()).toEqual(drawn);
  expect(readdirSync(directory()).toSorted()).toEqual(['5-1-3-4', '5-100-3-2']);
});

it('takes what is kept', () => {
  digits();
  const values = new Uint8Array(TEST.count * digitPixels).fill(7);
  const labels = Uint8Array.of(3, 4);
  writeChecked(fileOf(TEST), [values, labels]);
  expect(digits()).toEqual([drawn[0], { count: TEST.count, values, labels }]);
});

it('draws again, and keeps, what was damaged, cut or of another length', () => {
  digits();
  const file = fileOf(TRAIN);
  const whole = readFileSync(file);
  const expectAnew = (damage: string): void => {
    expect(digits(), damage).toEqual(drawn);
    expect(readFileSync(file), damage).toEqual(whole);
  };
  for (const bit of [0, 31, 32, 4000, 8 * whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, damaged);
    expectAnew(`bit ${bit}`);
  }
  for (const length of [0, 3, 4, whole.length - 1]) {
    truncateSync(file, length);
    expectAnew(`${length} bytes`);
  }
  writeChecked(file, [whole.subarray(4), Uint8Array.of(0)]);
  expectAnew('a byte more');
});

it('starts over when there are many bytes', () => {
  digits();
  const large = path.join(directory(), 'large');
  writeFileSync(large, '');
  truncateSync(large, 32 * 2 ** 20);
  rmSync(fileOf(TEST));
  expect(digits()).toEqual(drawn);
  expect(readdirSync(directory())).toEqual(['5-100-3-2']);
});

it('draws where nothing can be kept', () => {
  const file = path.join(parent, 'file');
  writeFileSync(file, '');
  const below = path.join(file, 'below');
  expect(keptDigits(SEED, [TRAIN, TEST], below)).toEqual(drawn);
  expect(readFileSync(file, 'utf8')).toBe('');
});
