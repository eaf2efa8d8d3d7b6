/** Who is silent, by the watcher's own ticks. */
import { expect, test } from 'vitest';
import {
  PulseWatch,
  TICKS_PER_SILENCE,
} from '../../../src/agent/transport/pulse-watch.ts';

/** How many ticks pass until something changes; and what. */
function ticksUntilChange(watch: PulseWatch): readonly [number, unknown] {
  for (let ticks = 1; ticks < 100; ticks++) {
    const changes = watch.tick();
    if (changes.length > 0) return [ticks, changes];
  }
  return [Infinity, []];
}

test('a rank that gives no sign is silent before the limit has passed, and told once', () => {
  const watch = new PulseWatch();
  watch.watch(2);
  const [ticks, changes] = ticksUntilChange(watch);
  expect(changes).toEqual([{ rank: 2, state: 'silent' }]);
  expect(ticks).toBeLessThan(TICKS_PER_SILENCE);
  // Enough of them that a sign a few ticks late is none of silence.
  expect(ticks).toBeGreaterThan(TICKS_PER_SILENCE / 2);
  expect(ticksUntilChange(watch)[0]).toBe(Infinity);
});

test('a sign before that keeps it alive, and one after it brings it back', () => {
  const watch = new PulseWatch();
  watch.watch(1);
  for (let sign = 0; sign < 20; sign++) {
    for (let tick = 0; tick < 4; tick++) expect(watch.tick()).toEqual([]);
    expect(watch.heard(1)).toBeUndefined();
  }
  ticksUntilChange(watch);
  expect(watch.heard(1)).toEqual({ rank: 1, state: 'heard' });
  expect(watch.heard(1)).toBeUndefined();
  expect(ticksUntilChange(watch)[1]).toEqual([{ rank: 1, state: 'silent' }]);
});

test('ranks are watched one by one; who has left owes nothing', () => {
  const watch = new PulseWatch();
  watch.watch(0);
  watch.tick();
  watch.watch(3);
  watch.watch(5);
  watch.forget(5);
  expect(watch.heard(5)).toBeUndefined();
  const [first, changes] = ticksUntilChange(watch);
  expect(changes).toEqual([{ rank: 0, state: 'silent' }]);
  expect(watch.tick()).toEqual([{ rank: 3, state: 'silent' }]);
  expect(first).toBeGreaterThan(1);
  expect(ticksUntilChange(watch)[0]).toBe(Infinity);
});

test('a watcher that stood still holds it against nobody', () => {
  const watch = new PulseWatch();
  watch.watch(1);
  // However long it was: one tick has passed, and the signs that waited are read.
  expect(watch.tick()).toEqual([]);
  watch.heard(1);
  expect(watch.tick()).toEqual([]);
});
