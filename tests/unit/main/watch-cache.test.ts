/** A watch is used again only where it is what is stored. */
import { expect, test } from 'vitest';
import { WatchCache } from '../../../src/main/store/watch-cache.ts';
import { DEFAULT_CHOICES } from '../../../src/shared/alerts/run-watch.ts';

const RUN = 1;

test('a watch that was kept is used for the next batch, once', () => {
  const cache = new WatchCache();
  const first = cache.take(RUN, undefined, DEFAULT_CHOICES);
  const { state } = first;
  cache.keep(RUN, first, state, DEFAULT_CHOICES);
  expect(cache.take(RUN, state, DEFAULT_CHOICES)).toBe(first);
  // Its batch was not stored: what it has seen does not count.
  expect(cache.take(RUN, state, DEFAULT_CHOICES)).not.toBe(first);
});

test('what another process stored, or other settings, make a new watch', () => {
  const cache = new WatchCache();
  const first = cache.take(RUN, undefined, DEFAULT_CHOICES);
  cache.keep(RUN, first, first.state, DEFAULT_CHOICES);
  expect(cache.take(RUN, `${first.state} `, DEFAULT_CHOICES)).not.toBe(first);
  cache.keep(RUN, first, first.state, DEFAULT_CHOICES);
  expect(cache.take(RUN, first.state, new Map())).not.toBe(first);
});

test('the oldest of many runs is forgotten', () => {
  const cache = new WatchCache();
  const first = cache.take(0, undefined, DEFAULT_CHOICES);
  for (let run = 0; run <= 64; run++) {
    cache.keep(run, first, first.state, DEFAULT_CHOICES);
  }
  expect(cache.take(0, first.state, DEFAULT_CHOICES)).not.toBe(first);
  expect(cache.take(64, first.state, DEFAULT_CHOICES)).toBe(first);
});
