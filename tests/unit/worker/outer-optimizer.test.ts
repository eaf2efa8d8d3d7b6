import { expect, test } from 'vitest';
import { OuterOptimizer } from '../../../src/agent/worker/steps/outer-optimizer.ts';
import { isDue } from '../../../src/agent/worker/steps/steps.ts';

const moves = (
  settings: { lr: number; momentum: number; nesterov: boolean },
  steps: readonly number[],
): number[] => {
  const outer = new OuterOptimizer(settings, 1);
  const weights = Float32Array.of(8);
  return steps.map((moved) => {
    outer.step(weights, Float32Array.of(moved));
    return weights[0]!;
  });
};

// By hand, in numbers that f32 has.
test('with rate 1 and no momentum the weights are where ranks are on average', () => {
  expect(moves({ lr: 1, momentum: 0, nesterov: true }, [2, -1, 0])).toEqual([6, 7, 7]);
});

test('momentum goes on where nothing moves', () => {
  // v: 2, 1, 0.5.
  expect(moves({ lr: 1, momentum: 0.5, nesterov: false }, [2, 0, 0])).toEqual([
    6, 5, 4.5,
  ]);
});

test('Nesterov’s momentum looks one step ahead', () => {
  // v: 2, 1; steps 2 + 1, 0 + 0.5.
  expect(moves({ lr: 1, momentum: 0.5, nesterov: true }, [2, 0])).toEqual([5, 4.5]);
  expect(moves({ lr: 0.5, momentum: 0.5, nesterov: true }, [2])).toEqual([6.5]);
});

test('something is due where a multiple falls into the iterations since the last exchange', () => {
  const dues = (every: number | undefined, round: number): number[] =>
    Array.from({ length: 24 }, (_, iteration) => iteration).filter(
      (iteration) =>
        (iteration + 1) % round === 0 &&
        isDue(every, { since: iteration + 1 - round, iteration }),
    );
  expect(dues(8, 1)).toEqual([7, 15, 23]);
  expect(dues(8, 3)).toEqual([8, 17, 23]);
  expect(dues(2, 12)).toEqual([11, 23]);
  expect(dues(0, 1)).toEqual([]);
  expect(dues(undefined, 1)).toEqual([]);
});
