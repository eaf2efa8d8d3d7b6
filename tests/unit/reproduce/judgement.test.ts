/** How parts of a rule are decided, and what they come to. */
import { describe, expect, test } from 'vitest';
import { judgementOf } from '../../../src/reproduce/judgement.ts';
import {
  atLeast,
  atMost,
  check,
  claim,
  claimByReadings,
  control,
  exceeds,
  exceedsTimes,
  faster,
  named,
  notSlower,
  timedClaim,
  type Test,
} from '../../../src/reproduce/part.ts';

/** Five values around a mean, with a standard error of 0.1. */
const around = (mean: number): readonly number[] =>
  [-2, -1, 0, 1, 2].map((step) => mean + (step * 0.1) / Math.sqrt(0.5));

const outcomeOf = (one: Test) => judgementOf([claim('so it is', one)]).findings[0]!;

describe('a mean with a bound', () => {
  // t with four degrees of freedom: 2.132 standard errors at 5 %.
  test.each([
    [0.78, 'holds'],
    [0.79, 'unclear'],
    [1, 'unclear'],
    [1.21, 'unclear'],
    [1.22, 'fails'],
  ])('of at most 1: %d %s', (mean, outcome) => {
    expect(outcomeOf(atMost(around(mean), { trueAt: 1 })).outcome).toBe(outcome);
  });

  test.each([
    [0.78, 'fails'],
    [1, 'unclear'],
    [1.22, 'holds'],
  ])('of at least 1: %d %s', (mean, outcome) => {
    expect(outcomeOf(atLeast(around(mean), { trueAt: 1 })).outcome).toBe(outcome);
  });

  test.each([
    [0.5, 'fails'],
    // It is there, but smaller than what counts, however sure that is.
    [1, 'unclear'],
    [1.29, 'unclear'],
    [1.31, 'holds'],
    [1.5, 'holds'],
  ])('or with two bounds, 0.7 and 1.3: %d %s', (mean, outcome) => {
    const bounds = { falseAt: 0.7, trueAt: 1.3 };
    expect(outcomeOf(atLeast(around(mean), bounds)).outcome).toBe(outcome);
  });
});

test('the values are said with their interval, bounds and power', () => {
  const { measured } = outcomeOf(
    atLeast(around(2), { falseAt: 0, trueAt: 1, format: (value) => value.toFixed(3) }),
  );
  // What counts, and 0.941 standard errors.
  expect(measured[0]!.text).toBe(
    '2.000 (1.787 to 2.213), true from 1.000, false up to 0.000; visible here: 1.094',
  );
  expect(measured[0]).toMatchObject({ mean: 2, trueAt: 1, falseAt: 0 });
  const below = outcomeOf(atMost(around(-2), { trueAt: -1 }));
  expect(below.measured[0]!.text).toMatch(
    /^−2\.0000 \(−2\.2132 to −1\.7868\), true up to −1/,
  );
});

describe('readings of one statement', () => {
  const part = (...tests: readonly Test[]) =>
    judgementOf([claimByReadings('so it is', ...tests)]);

  test.each([
    ['by all', [HOLDS, HOLDS], 'holds', 'confirmed'],
    ['by none', [FAILS, FAILS], 'fails', 'refuted'],
    ['by one', [HOLDS, FAILS], 'unclear', 'undecided'],
    ['by none, one of them unclear', [UNCLEAR, FAILS], 'unclear', 'undecided'],
  ] as const)('that is so %s', (_, tests, outcome, verdict) => {
    const judged = part(...tests);
    expect(judged.findings[0]!.outcome).toBe(outcome);
    expect(judged.verdict).toBe(verdict);
  });

  test('count once among what could fail by chance', () => {
    // A standard error of 0.1: it fails by 5 % (t 2.13), but not by 2.5 % (2.78).
    const near = atLeast(around(0.76), { trueAt: 1 });
    expect(judgementOf([claim('a', near, near)]).verdict).toBe('undecided');
    expect(part(near, near).verdict).toBe('refuted');
  });
});

describe('seeds that would decide an unclear test', () => {
  const seeds = (one: Test) => outcomeOf(one).measured[0]!.seedsToDecide;

  test('are the fewest with which it would be decided, as means and spread are', () => {
    // A standard deviation of 0.2236: at 0.9 the bound of 1 is excluded from 16 values on (t 1.753), not 15 (1.761).
    expect(seeds(atMost(around(0.9), { trueAt: 1 }))).toBe(16);
  });

  test('are not said of a test that is decided, or that none would decide', () => {
    expect(seeds(HOLDS)).toBeUndefined();
    expect(seeds(FAILS)).toBeUndefined();
    expect(seeds(atMost(around(1), { trueAt: 1 }))).toBeUndefined();
    expect(seeds(atLeast(around(1), { falseAt: 0, trueAt: 2 }))).toBeUndefined();
    // More seeds would exclude what counts, and then that there is nothing.
    expect(seeds(atLeast(around(0.1), { falseAt: 0, trueAt: 0.3 }))).toBeUndefined();
  });
});

test('pairs have the same seed', () => {
  // Each differs by 3, however far apart the seeds are.
  const less = [1, 20, 300, 4000, 5];
  const more = less.map((value) => value + 3);
  expect(outcomeOf(exceeds(more, less, 1)).outcome).toBe('holds');
  expect(outcomeOf(exceeds(less, more, 1)).outcome).toBe('fails');
  expect(() => exceeds([1, 2], [1], 1)).toThrow('internal: 2 and 1 values');
});

test('times are compared by their ratios', () => {
  const slow = [40, 1000, 25, 300, 9];
  const fast = slow.map((time, seed) => time / (2 + 0.1 * seed));
  expect(outcomeOf(faster(fast, slow)).outcome).toBe('holds');
  expect(outcomeOf(faster(slow, fast)).outcome).toBe('fails');
  expect(outcomeOf(exceedsTimes(slow, fast, 3)).outcome).toBe('unclear');
  expect(outcomeOf(notSlower(fast, slow)).outcome).toBe('holds');
  expect(outcomeOf(notSlower(slow, fast)).outcome).toBe('fails');
  // The geometric mean of equal ratios is that ratio.
  const { measured } = outcomeOf(
    faster(
      slow.map((time) => time / 4),
      slow,
    ),
  );
  expect(measured[0]!.mean).toBeCloseTo(4, 12);
});

const HOLDS = atMost(around(0), { trueAt: 1 });
const FAILS = atMost(around(2), { trueAt: 1 });
const UNCLEAR = atMost(around(1), { trueAt: 1 });
const kindly = claim('a claim that holds', HOLDS);

describe('the verdict', () => {
  test.each([
    ['confirmed', [kindly, control('it could fail', HOLDS), check('it is so', true)]],
    ['refuted', [kindly, claim('another', FAILS)]],
    ['refuted', [claim('another', UNCLEAR), claim('a third', FAILS)]],
    ['undecided', [kindly, claim('another', UNCLEAR)]],
    // What could not have been seen refutes nothing.
    ['undecided', [kindly, control('it could fail', FAILS)]],
    ['undecided', [kindly, control('it could fail', UNCLEAR)]],
    ['checked', [check('it is so', true)]],
    // The fault is ours, not the paper's.
    ['undecided', [check('it is so', true), check('so is this', false)]],
    ['undecided', [kindly, check('it is so', false)]],
    ['undecided', [claim('nothing was observed')]],
  ] as const)('is %s: %#', (verdict, parts) => {
    expect(judgementOf(parts).verdict).toBe(verdict);
  });

  test('needs a part', () => {
    expect(() => judgementOf([])).toThrow('internal: a judgement without parts');
  });

  test('needs five seeds', () => {
    const few = atMost([0, 0, 0, 0], { trueAt: 1 });
    expect(() => judgementOf([claim('so it is', few)])).toThrow('internal: 4 seeds');
  });
});

test('a part with several tests fails with one, and holds with all', () => {
  const both = (a: Test, b: Test) =>
    judgementOf([claim('each', named('a', a), named('b', b))]).findings[0]!;
  expect(both(HOLDS, HOLDS).outcome).toBe('holds');
  expect(both(HOLDS, UNCLEAR).outcome).toBe('unclear');
  expect(both(FAILS, UNCLEAR).outcome).toBe('fails');
  expect(
    both(HOLDS, FAILS).measured.map(({ name, outcome }) => [name, outcome]),
  ).toEqual([
    ['a', 'holds'],
    ['b', 'fails'],
  ]);
});

test('the more a figure claims, the surer each refutation has to be', () => {
  // 2.5 standard errors beyond the bound: enough for one test, not for twenty.
  const beyond = atMost(around(1.25), { trueAt: 1 });
  const many = Array.from({ length: 19 }, () => HOLDS);
  expect(judgementOf([claim('so it is', beyond)]).verdict).toBe('refuted');
  expect(judgementOf([claim('so it is', beyond, ...many)]).verdict).toBe('undecided');
  expect(judgementOf([claim('so it is', beyond, ...many)]).falseVerdict).toBeCloseTo(
    0.05,
    12,
  );
  expect(judgementOf([check('it is so', true)]).falseVerdict).toBe(0);
});

test('a busy computer leaves times undecided, and nothing else', () => {
  const parts = [timedClaim('it is faster', FAILS), claim('it is as good', HOLDS)];
  const busy = judgementOf(parts, 'busy: 16 ranks on 2 processors');
  expect(busy.verdict).toBe('undecided');
  expect(busy.findings.map(({ obstacle, outcome }) => [outcome, obstacle])).toEqual([
    ['unclear', 'busy: 16 ranks on 2 processors'],
    ['holds', undefined],
  ]);
  expect(judgementOf(parts).verdict).toBe('refuted');
});
