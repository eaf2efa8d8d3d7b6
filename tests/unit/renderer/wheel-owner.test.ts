import { expect, test } from 'vitest';
import { WheelOwner } from '../../../src/renderer/charts/wheel-owner.ts';

const PLAIN = { ctrlKey: false, metaKey: false };

test('the wheel is the page’s after a click on a chart, though that has the focus', () => {
  const owner = new WheelOwner();
  expect(owner.isChart(PLAIN, false)).toBe(false);
  owner.pointed();
  expect(owner.isChart(PLAIN, true)).toBe(false);
  expect(owner.isChart({ ...PLAIN, ctrlKey: true }, false)).toBe(true);
  expect(owner.isChart({ ...PLAIN, metaKey: true }, true)).toBe(true);
});

test('the wheel is the chart’s where the keyboard reached it, until a click', () => {
  const owner = new WheelOwner();
  expect(owner.isChart(PLAIN, true)).toBe(true);
  owner.pointed();
  expect(owner.isChart(PLAIN, true)).toBe(false);
  owner.left();
  expect(owner.isChart(PLAIN, true)).toBe(true);
});
