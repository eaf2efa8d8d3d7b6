/** The verdict of a comparison: when one is given, and what it says. */
import { describe, expect, it, test } from 'vitest';
import {
  compareRuns,
  type ComparisonOptions,
} from '../../../src/shared/comparison/comparison.ts';
import type { ComparedRun } from '../../../src/shared/comparison/compared-run.ts';
import { runsOf, sampleRun } from './sample-run.ts';

const verdict = (runs: readonly ComparedRun[], options: ComparisonOptions = {}) =>
  compareRuns(runs, options).verdict;

describe('a verdict', () => {
  const options = { target: 0.9 };
  const dense = () => runsOf('none', [100, 104, 98]);

  it('names the faster one where the interval excludes 1', () => {
    const found = verdict([...dense(), ...runsOf('topk', [30, 31, 29])], options);
    expect(found).toMatchObject({ kind: 'faster', group: 1 });
    expect(found.text).toMatch(
      /^topk reaches accuracy 90 % 3\.36× as fast as none \(95 % interval .* to .*; 3 seeds each\)\.$/,
    );
  });

  it('abstains where the interval includes 1', () => {
    const found = verdict([...dense(), ...runsOf('topk', [60, 130, 95])], options);
    expect(found.kind).toBe('abstains');
    expect(found.text).toContain('cannot be told apart');
  });

  it('abstains with fewer than three seeds, however large the ratio, and says how many', () => {
    const found = verdict([...dense(), ...runsOf('topk', [1])], options);
    expect(found.kind).toBe('abstains');
    expect(found.text).toContain('one seed of topk is too few');
    expect(found.text).toContain('Run topk with at least 3 seeds.');
    const repeats = [1, 1, 1].map(() => runsOf('topk', [1])[0]!);
    expect(verdict([...dense(), ...repeats], options).kind).toBe('abstains');
  });

  it('needs wider intervals the more configurations there are', () => {
    const three = [
      ...dense(),
      ...runsOf('topk', [30, 31, 29]),
      ...runsOf('qsgd', [60, 61, 59]),
    ];
    const found = compareRuns(three, options);
    expect(found.level).toBeCloseTo(0.975, 12);
    expect(found.verdict.text).toMatch(
      /^topk reaches accuracy 90 % 2\.00× as fast as qsgd, the next of 3 \(97\.5 % interval/,
    );
  });

  it('says that only one reached the target, if its seeds suffice', () => {
    const short = (seed: number) =>
      sampleRun({ method: 'qsgd', seed, accuracy: { 10: 0.4 } });
    const never = [1, 2, 3].map(short);
    expect(verdict([...never, ...runsOf('topk', [30, 31, 29])], options)).toEqual({
      kind: 'only',
      group: 1,
      text: 'Only topk reached accuracy 90 % in every run (3 seeds each); qsgd came to 40.0 %.',
    });
    expect(verdict([short(1), ...runsOf('topk', [30])], options).text).toMatch(
      /^No verdict: only topk .* Run each with at least 3 seeds\.$/,
    );
  });

  it('tells of those that fell short, and compares the others', () => {
    const runs = [
      ...dense(),
      ...runsOf('topk', [30, 31, 29]),
      ...runsOf('qsgd', [10]),
      sampleRun({ method: 'qsgd', seed: 2, accuracy: { 10: 0.4 } }),
      sampleRun({ method: 'onebit', accuracy: { 10: 0.4 } }),
    ];
    const { groups, verdict: found } = compareRuns(runs, options);
    expect([found.kind, groups[2]!.costs]).toEqual(['faster', undefined]);
    expect(found.text).toMatch(
      /^topk reaches .* as fast as none \(.*\)\. Others fell short: qsgd reached it in 1 of 2 runs only, onebit never reached it\.$/,
    );
  });

  test.each([
    ['one run has nothing', [sampleRun()]],
    ['the same settings', [sampleRun(), sampleRun({ seed: 2 })]],
    [
      'different models',
      [
        sampleRun(),
        sampleRun({ spec: { workload: { model: 'lstm', dataset: 'digits' } } }),
      ],
    ],
    [
      'different data',
      [
        sampleRun(),
        sampleRun({ spec: { workload: { model: 'fnn3', dataset: 'mnist' } } }),
      ],
    ],
    ['no loss or metric', [sampleRun(), sampleRun({ method: 'topk' })]],
    [
      'has no accuracy',
      [sampleRun({ accuracy: { 5: 0.9 } }), sampleRun({ method: 'topk' })],
    ],
    [
      'may still reach accuracy 90 %',
      [
        ...runsOf('none', [1]),
        sampleRun({ method: 'topk', state: 'running', accuracy: { 1: 0.1 } }),
      ],
    ],
    [
      'no run reached accuracy 90 %',
      ['none', 'topk'].map((method) => sampleRun({ method, accuracy: { 5: 0.2 } })),
    ],
    [
      'in 1 of 2 runs only',
      [
        ...runsOf('none', [1, 1]),
        ...runsOf('topk', [1]),
        sampleRun({ method: 'topk', seed: 2, accuracy: { 10: 0.8 } }),
      ],
    ],
  ])('abstains: %s', (reason, runs) => {
    const found = verdict(runs, options);
    expect(found.kind).toBe('abstains');
    expect(found.text).toMatch(/^No verdict: /);
    expect(found.text).toContain(reason);
  });
});

test('costs that evaluations show only roughly have no narrow interval', () => {
  const until = (last: number, method: string) =>
    [1, 2, 3].map((seed) => {
      const walls = Array.from({ length: 12 }, () => 1);
      return sampleRun({
        method,
        seed,
        walls,
        accuracy: { [last - 1]: 0.5, [last]: 0.9 },
      });
    });
  const { groups, verdict: found } = compareRuns(
    [...until(11, 'topk'), ...until(12, 'none')],
    { target: 0.9, by: 'iterations' },
  );
  const { high, low, ratio } = groups.find(
    ({ speedup }) => speedup !== undefined,
  )!.speedup!;
  expect(ratio).toBeCloseTo(12 / 11, 12);
  // All costs are the same over seeds, so only the evaluations make it wide.
  expect([low! < 1.05, high! > 1.12, low! > 1]).toEqual([true, true, true]);
  expect(found.text).toContain('1.09× fewer iterations');
});

test('a factor that would look like 1 has more digits', () => {
  const costs = (walls: number, method: string) =>
    [1, 2, 3].map((seed) => {
      const all = Array.from({ length: 4 }, () => walls);
      return sampleRun({ method, seed, walls: all, loss: [3, 2, 1, 0.5] });
    });
  const runs = [...costs(1000, 'topk'), ...costs(1004, 'none')];
  const { verdict: found } = compareRuns(runs, {
    quantity: 'training-loss',
    target: 1,
  });
  expect(found.text).toContain('1.0040× as fast');
});
