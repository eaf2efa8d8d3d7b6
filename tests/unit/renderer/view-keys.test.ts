import { expect, test } from 'vitest';
import type { ChartView } from '../../../src/renderer/charts/chart-view.svelte.ts';
import { viewKeys } from '../../../src/renderer/charts/view-keys.ts';

/** The parts of a view that these keys ask. */
function viewOf() {
  const done: string[] = [];
  const view = {
    pinned: undefined as number | undefined,
    hasEarlier: true,
    cursor: { iteration: undefined as number | undefined },
    range: { from: 0, to: 100 },
    pin: (place: number) => void (view.pinned = place),
    unpin: () => void (view.pinned = undefined),
    back: () => {
      view.hasEarlier = false;
      done.push('back');
    },
  };
  return { done, view };
}

test('Escape unpins first, and then goes back to what was shown before', () => {
  const { done, view } = viewOf();
  const press = (key: string, pin?: (place: number) => void): boolean =>
    viewKeys(
      view as unknown as ChartView,
      { key, ctrlKey: false, metaKey: false, altKey: false },
      pin,
    );
  expect(press('Enter')).toBe(true);
  expect(view.pinned).toBe(50);
  expect(press('Escape')).toBe(true);
  expect(view.pinned).toBeUndefined();
  expect(done).toEqual([]);
  expect(press('Escape')).toBe(true);
  expect(done).toEqual(['back']);
  expect(press('Escape')).toBe(false);
  // A chart of bars pins one of those that a bar stands for.
  view.cursor.iteration = 7;
  expect(press('Enter', (place) => view.pin(place + 1))).toBe(true);
  expect(view.pinned).toBe(8);
});
