/**
 * How often judges err, over a thousand draws of worlds in which the truth is known: the claim
 * is true (at the smallest effect that counts), false by as much, or there is no effect.
 */
import { describe, expect, test } from 'vitest';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { scalecomTable3 } from '../../../src/reproduce/figures/scalecom-table-3.ts';
import { sparcmlFigure4 } from '../../../src/reproduce/figures/sparcml-figure-4.ts';
import { judgementOf, LEVEL } from '../../../src/reproduce/judgement.ts';
import {
  atLeast,
  atMost,
  claim,
  exceeds,
  exceedsTimes,
  faster,
  notSlower,
  type Part,
  type Test,
} from '../../../src/reproduce/part.ts';
import { studentQuantile } from '../../../src/reproduce/student-t.ts';
import { laplace, normal, uniform } from './draws.ts';
import { judged, type Values } from './judged.ts';
import { madeUpSweep, SOME_VALUES } from './made-up-sweep.ts';

const DRAWS = 1000;
const SEEDS = 5;
/**
 * The stated rate, and four standard errors of a rate of that size over the draws: of the hundred rates below,
 * some are three away by chance. (Over 40,000 draws each was at most 5.1 %.)
 */
const AT_MOST = LEVEL + 4 * Math.sqrt((LEVEL * (1 - LEVEL)) / DRAWS);

/** The share of the draws in which something is so. */
function rate(isSo: () => boolean): number {
  let count = 0;
  for (let draw = 0; draw < DRAWS; draw++) if (isSo()) count++;
  return count / DRAWS;
}

const several = (value: () => number): readonly number[] =>
  Array.from({ length: SEEDS }, value);

describe.each([
  ['normal', normal],
  ['heavy-tailed', laplace],
  [
    'evenly spread',
    (seed: number) => {
      const next = uniform(seed);
      return () => (next() - 0.5) * Math.sqrt(12);
    },
  ],
] as const)('%s differences between seeds', (_, draws) => {
  const next = draws(7);
  /** Pairs of what two cases measure: a luck that they share, and what differs. */
  const pairs = (effect: number): readonly [readonly number[], readonly number[]] => {
    const less = several(() => 100 + 5 * next());
    return [less.map((value) => value + effect + next()), less];
  };
  const times = (factor: number): readonly [readonly number[], readonly number[]] => {
    const less = several(() => 100 * Math.exp(next()));
    return [less.map((value) => value * factor * Math.exp(0.1 * next())), less];
  };
  const values = (mean: number): readonly number[] => several(() => mean + next());

  /** A judge, and worlds with the outcome that would be false in each. */
  const WORLDS: readonly (readonly [string, 'holds' | 'fails', () => Test])[] = [
    ['more, true', 'fails', () => exceeds(...pairs(2), 2)],
    ['more, false', 'holds', () => exceeds(...pairs(-2), 2)],
    ['more, absent', 'holds', () => exceeds(...pairs(0), 2)],
    ['times, true', 'fails', () => exceedsTimes(...times(1.5), 1.5)],
    ['times, false', 'holds', () => exceedsTimes(...times(1 / 1.5), 1.5)],
    ['times, absent', 'holds', () => exceedsTimes(...times(1), 1.5)],
    ['faster, true', 'fails', () => swapped(faster, times(1.12))],
    ['faster, absent', 'holds', () => swapped(faster, times(1))],
    ['not slower, true', 'fails', () => notSlower(...times(1))],
    ['not slower, false', 'holds', () => notSlower(...times(1.12))],
    ['no loss, true', 'fails', () => atMost(values(0), { trueAt: 1 })],
    ['no loss, just so', 'fails', () => atMost(values(1), { trueAt: 1 })],
    ['no loss, false', 'holds', () => atMost(values(1), { trueAt: 1 })],
    ['a share, true', 'fails', () => atLeast(values(3), { trueAt: 3, falseAt: 1 })],
    ['a share, false', 'holds', () => atLeast(values(1), { trueAt: 3, falseAt: 1 })],
  ];
  test.each(WORLDS)('%s: it rarely %s', (_name, wrong, world) => {
    const wrongs = rate(
      () => judgementOf([claim('so it is', world())]).findings[0]!.outcome === wrong,
    );
    expect(wrongs).toBeLessThanOrEqual(AT_MOST);
  });
});

const swapped = (
  judge: (fast: readonly number[], slow: readonly number[]) => Test,
  [slow, fast]: readonly [readonly number[], readonly number[]],
): Test => judge(fast, slow);

test.each([
  ['a single bound', 0],
  ['a bound beyond what chance does', 3],
  ['a bound within it', 0.5],
])(
  'an effect as large as the power says is found four times in five, with %s',
  (_, trueAt) => {
    const next = normal(11);
    const error = 1 / Math.sqrt(SEEDS);
    // What is visible without knowing the spread, for the spread that the draws have.
    const visible =
      Math.max(error * studentQuantile(0.95, 4), trueAt) +
      error * studentQuantile(0.8, 4);
    const found = rate(() => {
      const test = atLeast(
        several(() => visible + next()),
        { trueAt, falseAt: 0 },
      );
      return judgementOf([claim('so it is', test)]).findings[0]!.outcome === 'holds';
    });
    expect(found).toBeGreaterThan(0.75);
    expect(found).toBeLessThan(0.88);
  },
);

test('what is stated as visible is that distance', () => {
  const spread = [-2, -1, 0, 1, 2];
  const error = Math.sqrt(10 / 4 / 5);
  const visible = (trueAt: number): number =>
    judgementOf([claim('so it is', atLeast(spread, { trueAt, falseAt: 0 }))])
      .findings[0]!.measured[0]!.visible;
  expect(visible(0)).toBeCloseTo(
    error * (studentQuantile(0.95, 4) + studentQuantile(0.8, 4)),
  );
  expect(visible(9)).toBeCloseTo(9 + error * studentQuantile(0.8, 4));
});

/** A part with other values: of each test, a mean on its own scale, with noise. */
function redrawn(
  part: Part,
  next: () => number,
  meanOf: (test: Test, into: (value: number) => number) => number,
): Part {
  if (part.kind === 'check') return part;
  return {
    ...part,
    tests: part.tests.map((test) => {
      const ratio = test.scale === 'ratio';
      const into = ratio ? Math.log : (value: number) => value;
      const mean = meanOf(test, into);
      const drawn = several(() => mean + NOISE * next());
      return { ...test, values: ratio ? drawn.map(Math.exp) : drawn };
    }),
  };
}
const NOISE = 0.1;
/** A mean beyond all doubt on the true side of a bound. */
const beyondDoubt = (test: Test, into: (value: number) => number): number =>
  into(test.trueAt) + (test.side === 'atLeast' ? 50 : -50) * NOISE;
/** A mean as far on the false side. */
const withoutDoubt = (test: Test, into: (value: number) => number): number =>
  into(test.falseAt) - (test.side === 'atLeast' ? 50 : -50) * NOISE;

/** Tests that have to be false together for a figure to be refuted: one, or all readings of a statement. */
const refuting = (parts: readonly Part[]): readonly (readonly Test[])[] =>
  parts.flatMap((part) => {
    if (part.kind !== 'claim') return [];
    return part.readings ? [part.tests] : part.tests.map((test) => [test]);
  });

describe.each(
  figures
    .map((figure) => [figure.id, partsOf(figure)] as const)
    .filter(([, parts]) => parts.some(({ kind }) => kind === 'claim')),
)('%s', (_, parts) => {
  // Whatever the made-up values give: here, checks hold.
  const base = parts.map((part) =>
    part.kind === 'check' ? { ...part, holds: true } : part,
  );

  test('is rarely refuted where all is just true', () => {
    const next = normal(3);
    const refuted = rate(
      () =>
        judgementOf(
          base.map((part) => redrawn(part, next, (test, into) => into(test.trueAt))),
        ).verdict === 'refuted',
    );
    expect(refuted).toBeLessThanOrEqual(AT_MOST);
  });

  test('is rarely confirmed where one test is false, each in turn', () => {
    const next = normal(5);
    const tests = base.flatMap((part) => (part.kind === 'check' ? [] : part.tests));
    let draw = 0;
    const confirmed = rate(() => {
      const wrong = tests[draw++ % tests.length];
      const drawn = base.map((part) =>
        redrawn(part, next, (test, into) =>
          test === wrong ? into(test.falseAt) : beyondDoubt(test, into),
        ),
      );
      return judgementOf(drawn).verdict === 'confirmed';
    });
    expect(confirmed).toBeLessThanOrEqual(AT_MOST);
  });

  test('is confirmed where all is true, and refuted where one statement is false, each in turn', () => {
    const next = laplace(13);
    const statements = refuting(base);
    const worlds = [[], ...statements];
    const verdicts = Array.from({ length: DRAWS }, (_, draw) => {
      const wrong = worlds[draw % worlds.length]!;
      const drawn = base.map((part) =>
        redrawn(part, next, (test, into) =>
          wrong.includes(test) ? withoutDoubt(test, into) : beyondDoubt(test, into),
        ),
      );
      return [wrong.length === 0 ? 'confirmed' : 'refuted', judgementOf(drawn).verdict];
    });
    expect(verdicts.filter(([right, verdict]) => verdict !== right)).toEqual([]);
  });

  test('is rarely confirmed where there is no effect', () => {
    const next = laplace(9);
    const confirmed = rate(
      () =>
        judgementOf(
          base.map((part) => redrawn(part, next, (test, into) => into(test.falseAt))),
        ).verdict === 'confirmed',
    );
    expect(confirmed).toBeLessThanOrEqual(AT_MOST);
  });
});

function partsOf(figure: Figure): readonly Part[] {
  return figure.judge(madeUpSweep(figure, () => SOME_VALUES)).parts;
}

describe('SparCML’s training', () => {
  const next = normal(17);
  /** Losses of the variants relative to dense, with a luck that each seed has for all. */
  const world = (variant: number, control: number): Values => {
    const luck = several(next);
    return (id, seed) => {
      const change = id.endsWith('-dense')
        ? 0
        : id.endsWith('-control')
          ? control
          : variant;
      const lost = (): number => change + (change === 0 ? 0 : 0.004 * next());
      const loss = 0.45 * (1 + 0.05 * luck[seed]!);
      const accuracy = 0.95 + 0.01 * luck[seed]!;
      return {
        metric: accuracy - lost(),
        'test-metric': accuracy - 0.02 - lost(),
        loss: loss * (1 + lost()),
        'test-loss': 1.05 * loss * (1 + lost()),
      };
    };
  };

  test('is confirmed as a rule where it loses little, and rarely refuted', () => {
    const verdicts = Array.from(
      { length: DRAWS },
      () => judged(sparcmlFigure4, world(0.0001, 0.2)).verdict,
    );
    expect(share(verdicts, 'refuted')).toBeLessThanOrEqual(AT_MOST);
    expect(share(verdicts, 'confirmed')).toBeGreaterThan(0.8);
  });

  test('is rarely confirmed where it loses by the margin', () => {
    const confirmed = rate(
      () => judged(sparcmlFigure4, world(0.01, 0.2)).verdict === 'confirmed',
    );
    expect(confirmed).toBeLessThanOrEqual(AT_MOST);
  });

  test('is refuted as a rule where it loses three times the margin', () => {
    const refuted = rate(
      () => judged(sparcmlFigure4, world(0.03, 0.2)).verdict === 'refuted',
    );
    expect(refuted).toBeGreaterThan(0.8);
  });

  test('is neither where nothing has an effect, not even the control', () => {
    const verdicts = Array.from(
      { length: DRAWS },
      () => judged(sparcmlFigure4, world(0.0001, 0.0001)).verdict,
    );
    expect(share(verdicts, 'undecided')).toBeGreaterThanOrEqual(1 - AT_MOST);
  });
});

describe('ScaleCom’s training at a large batch size', () => {
  const next = normal(19);
  const world = (filtered: number, plain: number): Values => {
    const luck = several(next);
    return (id, seed) => {
      const lost =
        (id.endsWith('-filtered') ? filtered : id.endsWith('-plain') ? plain : 0) +
        (id.endsWith('-none') ? 0 : 0.004 * next());
      return {
        metric: id.startsWith('fnn3')
          ? (0.95 + 0.01 * luck[seed]!) * (1 - lost)
          : 1.6 * (1 + 0.05 * luck[seed]!) * (1 + lost),
      };
    };
  };

  test('is confirmed as a rule where the filter loses nothing', () => {
    const verdicts = Array.from(
      { length: DRAWS },
      () => judged(scalecomTable3, world(0, 0.05)).verdict,
    );
    expect(share(verdicts, 'refuted')).toBeLessThanOrEqual(AT_MOST);
    expect(share(verdicts, 'confirmed')).toBeGreaterThan(0.8);
  });

  test('is rarely confirmed where the filter loses by the margin', () => {
    const confirmed = rate(
      () => judged(scalecomTable3, world(0.015, 0.05)).verdict === 'confirmed',
    );
    expect(confirmed).toBeLessThanOrEqual(AT_MOST);
  });

  test('is refuted as a rule where the filter does harm', () => {
    const refuted = rate(
      () => judged(scalecomTable3, world(0.05, 0)).verdict === 'refuted',
    );
    expect(refuted).toBeGreaterThan(0.8);
  });
});

const share = (verdicts: readonly string[], verdict: string): number =>
  verdicts.filter((one) => one === verdict).length / verdicts.length;
