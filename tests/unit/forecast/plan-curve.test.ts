import { expect, it } from 'vitest';
import { crossingsOf } from '../../../src/shared/forecast/plan-curve.ts';

const XS = [1, 10, 100, 1000];

it('a plan crosses no compression where the steps are equal, on the side where it is faster', () => {
  const dense = { steps: [8, 4, 2, 1] };
  const found = crossingsOf(XS, dense, { key: 'own', steps: [2, 2, 2.5, 4] });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ key: 'own', pays: 'below' });
  // ln 2 above at 10, ln 1.25 below at 100.
  expect(Math.log10(found[0]!.x)).toBeCloseTo(
    1 + Math.log(2) / (Math.log(2) + Math.log(1.25)),
    9,
  );
  const up = crossingsOf(
    XS,
    { steps: [1, 2, 4, 8] },
    { key: 'own', steps: [2, 2.5, 3, 4] },
  );
  expect(up.map(({ pays }) => pays)).toEqual(['above']);
});

it('equal plans, and those that cannot be carried, cross nowhere', () => {
  const dense = { steps: [8, 4, 2, 1] };
  expect(crossingsOf(XS, dense, { key: 'own', steps: dense.steps })).toEqual([]);
  expect(crossingsOf(XS, dense, { key: 'own', steps: [NaN, 9, NaN, 0.1] })).toEqual([]);
});
