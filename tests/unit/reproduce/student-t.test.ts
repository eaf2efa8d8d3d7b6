/** Student's t distribution beside published quantiles and an integral of its density. */
import { expect, test } from 'vitest';
import {
  studentDistribution,
  studentQuantile,
} from '../../../src/reproduce/student-t.ts';

// Abramowitz and Stegun, table 26.10.
test.each([
  [0.95, 4, 2.132],
  [0.8, 4, 0.941],
  [0.975, 1, 12.706],
  [0.975, 2, 4.303],
  [0.95, 9, 1.833],
  [0.995, 30, 2.75],
  [0.05, 4, -2.132],
])('the quantile at %d with %d degrees is %d', (probability, freedom, t) => {
  expect(studentQuantile(probability, freedom)).toBeCloseTo(t, 3);
});

test.each([1, 2, 3, 4, 7, 10])('with %d degrees it is the integral', (freedom) => {
  // Simpson's rule over the unnormalised density; t/√ν = tan a makes the range finite.
  const mass = (to: number): number => {
    const [steps, from] = [2000, -Math.PI / 2];
    const width = (to - from) / steps;
    let sum = 0;
    for (let index = 0; index <= steps; index++) {
      const weight = index === 0 || index === steps ? 1 : index % 2 === 1 ? 4 : 2;
      sum += weight * Math.cos(from + index * width) ** (freedom - 1);
    }
    return (sum * width) / 3;
  };
  for (const t of [-7, -1.3, 0, 0.4, 2.1, 12]) {
    const share = mass(Math.atan(t / Math.sqrt(freedom))) / mass(Math.PI / 2);
    expect(studentDistribution(t, freedom)).toBeCloseTo(share, 6);
  }
});

test('quantiles undo the distribution', () => {
  for (const probability of [0.001, 0.3, 0.5, 0.9, 0.99999]) {
    const t = studentQuantile(probability, 5);
    expect(studentDistribution(t, 5)).toBeCloseTo(probability, 12);
  }
});

test('what is no probability or no degree of freedom is a bug', () => {
  expect(() => studentQuantile(1, 4)).toThrow('internal: a quantile at 1');
  expect(() => studentDistribution(1, 0)).toThrow('internal: 0 degrees');
  expect(() => studentDistribution(1, 1.5)).toThrow('internal: 1.5 degrees');
});
