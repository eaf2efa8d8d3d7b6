/** Sentences that say what would change a verdict. */
import { expect, test } from 'vitest';
import { judgementOf } from '../../../src/reproduce/judgement.ts';
import {
  atMost,
  check,
  claim,
  claimByReadings,
  control,
  exceedsTimes,
  named,
} from '../../../src/reproduce/part.ts';
import { verdictText } from '../../../src/reproduce/page/verdict-text.ts';
import { whatWouldChange } from '../../../src/reproduce/page/what-would-change.ts';

/** Five values around a mean, with a standard error of 0.1. */
const around = (mean: number): readonly number[] =>
  [-2, -1, 0, 1, 2].map((step) => mean + (step * 0.1) / Math.sqrt(0.5));
const lost = (mean: number) => atMost(around(mean), { trueAt: 1 });

test('a confirmed claim would change by its narrowest part', () => {
  const parts = [
    claim('this is so', lost(0)),
    claim('that is so', named('a', lost(0)), named('b', lost(0.7))),
  ];
  expect(whatWouldChange(judgementOf(parts))).toEqual([
    'A mean on the other side of its bound. The part that holds most narrowly: “that is so” (b).',
  ]);
});

test('of ratios, the narrowest part is so by factors', () => {
  const times = (mean: number, spread: number) => {
    const values = [-2, -1, 0, 1, 2].map((step) => mean * spread ** step);
    return exceedsTimes(
      values,
      values.map(() => 1),
      1.1,
    );
  };
  // 2.00 (1.05 to 3.80) and 1.30 (1.01 to 1.67): by their differences the first would be closer to 1.
  const parts = [
    claim('one grows', times(2, 1.532)),
    claim('another grows', times(1.3, 1.1816)),
  ];
  const judged = judgementOf(parts);
  expect(judged.verdict).toBe('confirmed');
  expect(whatWouldChange(judged)[0]).toContain('“another grows”');
});

test('a refuted claim names what refutes it, and only that', () => {
  const parts = [
    claim('this is so', lost(0)),
    claim('that is so', named('a', lost(0)), named('b', lost(2))),
    claim('so is this', lost(3)),
  ];
  expect(whatWouldChange(judgementOf(parts))).toEqual([
    'Other means of what refutes it: “that is so” (b); “so is this”.',
    'More seeds hardly would: the bound on false verdicts allows for their chance. What differs from the paper may.',
  ]);
});

test('an undecided claim names seeds, a computer, or what is wrong', () => {
  const said = whatWouldChange(
    judgementOf([
      claim('holds', lost(0)),
      claim('is close', named('a', lost(0.9)), named('b', lost(0))),
      claim('is at the bound', lost(1)),
      claim('was not seen'),
      control('could be told', lost(2)),
      check('adds up', false),
    ]),
  );
  expect(said).toEqual([
    '“is close” (a): 16 seeds would show that it holds, if mean and spread stay as they are.',
    '“is at the bound”: not more seeds, if the mean stays where it is: at a bound, or between the two.',
    '“was not seen”: nothing that it is about was observed.',
    '“could be told”: settings at which this control holds; with these, no run could have told.',
    '“adds up”: the implementation has to be mended.',
  ]);
  const timed = { ...claim('is faster', lost(0)), timed: true as const };
  expect(
    whatWouldChange(judgementOf([timed], 'busy: 8 ranks on 2 processors')),
  ).toEqual([
    '“is faster”: a computer that is idle and has a processor for each rank (here: busy: 8 ranks on 2 processors).',
  ]);
});

test('readings that differ are named, each with what it comes to', () => {
  const part = claimByReadings(
    'is close',
    named('their own weights', lost(2)),
    named('averaged weights', lost(0)),
  );
  expect(whatWouldChange(judgementOf([part]))).toEqual([
    '“is close”: knowing which reading the paper means (fails by their own weights, holds by averaged weights).',
  ]);
  expect(verdictText(judgementOf([part]))).toContain('come to different outcomes');
  // More seeds would decide one reading, and the part no more than before.
  const unsure = claimByReadings(
    'is close',
    named('a', lost(2)),
    named('b', lost(0.9)),
  );
  expect(whatWouldChange(judgementOf([unsure]))).toEqual([
    '“is close”: knowing which reading the paper means (fails by a, unclear by b).',
  ]);
  expect(verdictText(judgementOf([unsure]))).not.toContain('different outcomes');
  const alike = claimByReadings('is close', named('a', lost(0)), named('b', lost(0.9)));
  expect(whatWouldChange(judgementOf([alike]))).toEqual([
    '“is close” (b): 16 seeds would show that it holds, if mean and spread stay as they are.',
  ]);
});

test('what is checked would change by a fault alone', () => {
  expect(whatWouldChange(judgementOf([check('adds up', true)]))).toEqual([
    'Only a fault of the implementation: it holds by construction.',
  ]);
});
