import { describe, expect, test } from 'vitest';
import type { PinnedOf } from '../../../src/renderer/charts/chart-view.svelte.ts';
import {
  BarPin,
  pinnedOfText,
  pinPoint,
} from '../../../src/renderer/charts/pin-bar.ts';
import type { BinWindow } from '../../../src/renderer/state/history/bin-window.ts';
import { longestIteration } from '../../../src/renderer/state/history/longest-iteration.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import type { BinsQuery } from '../../../src/shared/rpc/run-pieces.ts';
import { iterationRecord } from './records.ts';

const BARS = [
  { from: 352, to: 360 },
  { from: 360, to: 368 },
  { from: 368, to: 376 },
];

function viewOf(length: number) {
  const pins: (readonly [number, PinnedOf | undefined])[] = [];
  const pin = (place: number, of?: PinnedOf): void => void pins.push([place, of]);
  return { pins, length, pin };
}

describe('a click on a bar of several iterations', () => {
  test('pins the longest of them, and says so', async () => {
    const view = viewOf(1000);
    const asked: unknown[] = [];
    const bars = new BarPin(view, (...args) => {
      asked.push(args);
      return Promise.resolve(362);
    });
    await bars.pin(BARS, 363.5);
    await bars.pin(BARS, 363.5, 2);
    const bar = { from: 360, to: 368 };
    expect(asked).toEqual([
      [bar, undefined],
      [bar, 2],
    ]);
    expect(view.pins).toEqual([
      [362, { ...bar, choice: 'longest' }],
      [362, { ...bar, choice: { longestOf: 2 } }],
    ]);
    expect(view.pins.map(([, of]) => pinnedOfText(of!))).toEqual([
      'one of iterations 360–367, the longest',
      'one of iterations 360–367, the longest of rank 2',
    ]);
  });

  test.each([
    ['too many', () => Promise.resolve(undefined)],
    ['not readable', () => Promise.reject(new Error('closed'))],
  ])('pins the place where they are %s', async (_, longest) => {
    const view = viewOf(364);
    await new BarPin(view, longest).pin(BARS, 363.4);
    const [[place, of]] = view.pins as [[number, PinnedOf]];
    expect(place).toBe(363.4);
    expect(pinnedOfText(of)).toBe(
      'one of iterations 360–363, the one at the cursor, as these are too many to find the longest; zoom in',
    );
  });

  test('only the last click counts', async () => {
    const view = viewOf(1000);
    let answer = (_: number): void => undefined;
    const first = new Promise<number>((resolve) => (answer = resolve));
    const bars = new BarPin(view, ({ from }) =>
      from === 360 ? first : Promise.resolve(from),
    );
    const slow = bars.pin(BARS, 363);
    await bars.pin(BARS, 370);
    answer(361);
    await slow;
    expect(view.pins.map(([place]) => place)).toEqual([368]);
  });

  test('a bar of one iteration, and points, are what they are', async () => {
    const view = viewOf(1000);
    const never = new BarPin(view, () => Promise.reject(new Error('not asked')));
    await never.pin([{ from: 7, to: 8 }], 7.2);
    await never.pin(BARS, 500);
    pinPoint(view, BARS, 363.5);
    pinPoint(view, [{ from: 7, to: 8 }], 7.2);
    expect(view.pins).toEqual([
      [7.2, undefined],
      [500, undefined],
      [363.5, { from: 360, to: 368, choice: 'place' }],
      [7.2, undefined],
    ]);
    expect(pinnedOfText(view.pins[2]![1]!)).toMatch(/, the one at the cursor; zoom in/);
  });
});

describe('the longest iteration of a bar', () => {
  /** Two ranks; rank 1 is slow in iteration 5, rank 0 in iteration 6. */
  function filled(from: number) {
    const history = new RunHistory(2);
    history.readsFrom(from);
    for (let iteration = from; iteration < 16; iteration++) {
      for (const rank of [0, 1]) {
        const slow = iteration === 5 && rank === 1 ? 90 : iteration === 6 ? 60 : 0;
        const phases = { compute: 10 + (iteration === 6 && rank === 1 ? 0 : slow) };
        history.add(iterationRecord({ rank, iteration, phases }));
      }
    }
    return history;
  }
  const none = {
    window: (): Promise<BinWindow> => Promise.reject(new Error('not asked')),
  };

  test('is found among those that the page holds, of all ranks or of one', async () => {
    const bar = { from: 0, to: 8 };
    expect(await longestIteration(none, filled(0), bar)).toBe(5);
    expect(await longestIteration(none, filled(0), { ...bar, rank: 0 })).toBe(6);
  });

  test('is read where the page does not hold them, unless they are many', async () => {
    const asked: BinsQuery[] = [];
    const held = filled(0).heldBins({ from: 0, to: 8, limit: 9 });
    const stored = {
      window: (query: BinsQuery) => {
        asked.push(query);
        return Promise.resolve({ bins: () => held } as unknown as BinWindow);
      },
    };
    const history = filled(4);
    expect(await longestIteration(stored, history, { from: 0, to: 8 })).toBe(5);
    expect(asked).toEqual([{ from: 0, to: 8, width: 1, rank: undefined }]);
    const many = { from: 0, to: 8192 };
    expect(await longestIteration(none, history, many)).toBeUndefined();
  });
});
