import { expect, test } from 'vitest';
import { effectMoment } from '../../../src/renderer/state/runs/effect-moment.ts';

test('a fence that has passed is not named any longer', () => {
  expect(effectMoment(642, 640)).toBe('at iteration 642 at the earliest');
  expect(effectMoment(642, 642)).toBe('a few iterations after you switch');
  expect(effectMoment(642, 662)).toBe('a few iterations after you switch');
});
