/** Marks in charts and pictures that are drawn, where there is no room for all. */
import { expect, it } from 'vitest';
import { highestApart, signsApart } from '../../../src/export/picture/apart.ts';

it('keeps the highest of values that are cut', () => {
  const cut = [5, 9, 7, 6, 30, 8].map((y, index) => ({ x: 20 * index, y }));
  const kept = highestApart(cut, ({ x }) => x, 50);
  expect(kept.map(({ y }) => y)).toEqual([9, 30]);
  expect(highestApart([], () => 0, 50)).toEqual([]);
});

it('leaves out evaluations and checkpoints, not notes and faults', () => {
  const often = Array.from({ length: 160 }, (_, index) => ({
    at: 4 * index,
    sign: index % 4 === 3 ? 'square' : 'disc',
  }));
  const note = { at: 321, sign: 'triangle' };
  const fault = { at: 323, sign: 'cross' };
  const all = [...often, note, fault].toSorted((a, b) => a.at - b.at);
  const kept = signsApart(all, 6);
  // The last ones are drawn above the others.
  expect(kept.slice(-2)).toEqual([fault, note]);
  const places = kept.map(({ at }) => at).toSorted((a, b) => a - b);
  expect(places.length).toBeGreaterThan(30);
  expect(places.length).toBeLessThan(60);
  for (const sign of ['disc', 'square']) {
    const own = kept.filter((one) => one.sign === sign).map(({ at }) => at);
    expect(own.length).toBeGreaterThan(10);
    expect(own.every((at) => Math.abs(at - note.at) > 6)).toBe(true);
  }
});

it('keeps what has room', () => {
  const signs = [0, 30, 60].map((at) => ({ at, sign: 'disc' }));
  expect(signsApart(signs, 6)).toHaveLength(3);
});
