/** A pointer on a chart: what is a click, and what is none. */
import { expect, test } from 'vitest';
import { PointerDrag } from '../../../src/renderer/charts/pointer-drag.ts';

/** A drag from the first of these pixels over the others; the steps, and whether it was a click. */
function dragged(first: number, ...pixels: readonly number[]) {
  const drag = new PointerDrag(first, 7, true);
  const moves = pixels.map((x) => drag.to(x));
  return { isClick: drag.isClick, steps: moves.map(({ step }) => step), moves };
}

test('what was moved in small steps is not clicked, nor if it returns', () => {
  const away = dragged(50, 47, 44, 41, 38);
  expect(away).toMatchObject({ isClick: false, steps: [-3, -3, -3, -3] });
  expect(dragged(50, 47, 44, 47, 50).isClick).toBe(false);
});

test('a click may move a little, and selects nothing', () => {
  expect(dragged(50).isClick).toBe(true);
  const { isClick, moves } = dragged(50, 52, 46);
  expect(isClick).toBe(true);
  expect(moves.some(({ isFar }) => isFar)).toBe(false);
  expect(dragged(50, 60, 52).moves.map(({ isFar }) => isFar)).toEqual([true, false]);
});
