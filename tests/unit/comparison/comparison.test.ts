/** Comparisons of runs: outcomes, groups, ratios, and tables that have the same numbers. */
import { describe, expect, it, test } from 'vitest';
import { comparisonCsv } from '../../../src/shared/comparison/comparison-csv.ts';
import {
  compareRuns,
  type ComparisonOptions,
} from '../../../src/shared/comparison/comparison.ts';
import type { ComparedRun } from '../../../src/shared/comparison/compared-run.ts';
import { MOST_OBSERVATIONS } from '../../../src/shared/comparison/compared-run.ts';
import { readTarget } from '../../../src/shared/comparison/read-target.ts';
import { thinned } from '../../../src/main/compare/thinned-observations.ts';
import { runsOf, sampleRun } from './sample-run.ts';

const outcomes = (runs: readonly ComparedRun[], options: ComparisonOptions = {}) =>
  compareRuns(runs, options).runs.map(({ outcome }) => outcome);

describe('a target', () => {
  const walls = [1, 2, 4, 8, 16, 32];

  it('is reached at the first value that is as good, with the costs until then', () => {
    const run = sampleRun({ walls, sent: 10, accuracy: { 2: 0.5, 4: 0.9, 6: 0.9 } });
    expect(outcomes([run], { target: 0.9 })).toEqual([
      {
        kind: 'reached',
        costs: { iterations: 4, passes: 0.8, time: 15, bytes: 40 },
        before: { iterations: 2, passes: 0.4, time: 3, bytes: 20 },
        value: 0.9,
      },
    ]);
    expect(outcomes([run], { target: 0.9000001 })).toEqual([{ kind: 'missed' }]);
  });

  it('is reached although the value becomes worse again', () => {
    const run = sampleRun({ walls, accuracy: { 2: 0.95, 4: 0.1 } });
    expect(outcomes([run], { target: 0.9 })).toMatchObject([
      { kind: 'reached', costs: { iterations: 2, time: 3 }, value: 0.95 },
    ]);
  });

  it('of a loss is reached from above, by means of training batches, too', () => {
    const run = sampleRun({ walls, loss: [3, 2, null, 1, 0.5, 0.4] });
    const options = { quantity: 'training-loss', target: 1 } as const;
    expect(outcomes([run], options)).toMatchObject([
      { kind: 'reached', costs: { iterations: 4, time: 15 } },
    ]);
  });

  it('is open while a run goes on, and unmeasured without an evaluation', () => {
    const quantity = 'metric';
    const going = sampleRun({ state: 'running', accuracy: { 2: 0.5 } });
    const before = sampleRun({ state: 'running' });
    const without = sampleRun({ loss: [1, 1] });
    expect(outcomes([going, before, without], { target: 0.9, quantity })).toEqual([
      { kind: 'open' },
      { kind: 'open' },
      { kind: 'unmeasured' },
    ]);
  });

  it('is 95 % of the way by default, rounded towards what is easier', () => {
    const high = sampleRun({ accuracy: { 2: 0.1, 10: 0.947 } });
    const low = sampleRun({ method: 'topk', accuracy: { 2: 0.2, 10: 0.3 } });
    // 0.1 + 0.95 · 0.847 = 0.90465
    expect(compareRuns([high, low]).target).toBe(0.9);
    const loss = sampleRun({ loss: [2.3, 1, 0.123] });
    // 2.3 − 0.95 · 2.177 = 0.23185
    expect(compareRuns([loss]).target).toBe(0.24);
    expect(compareRuns([sampleRun()]).target).toBeUndefined();
  });

  it('is read as a number or a percentage, and refused otherwise', () => {
    expect([readTarget('0.9'), readTarget(' 90 % '), readTarget('1e-3')]).toEqual([
      ...[0.9, 0.9, 0.001],
    ]);
    for (const text of ['', 'fast', '90%%', 'NaN', 'Infinity']) {
      expect(() => readTarget(text)).toThrow(
        expect.objectContaining({ code: 'TARGET_INVALID' }),
      );
    }
  });
});

describe('groups', () => {
  it('have equal settings but for the seed and the name', () => {
    const runs = [
      sampleRun({ method: 'topk', seed: 1, spec: { name: 'first' } }),
      sampleRun({ method: 'none', seed: 1 }),
      sampleRun({ method: 'topk', seed: 2, spec: { name: 'second' } }),
    ];
    const { differences, groups, runs: results } = compareRuns(runs);
    expect(groups).toMatchObject([
      { label: 'topk', runs: [runs[0]!.id, runs[2]!.id], seeds: [1, 2] },
      { label: 'none', runs: [runs[1]!.id], seeds: [1] },
    ]);
    expect(results.map(({ group, id }) => [id, group])).toEqual(
      runs.map(({ id }, index) => [id, index % 2]),
    );
    expect(differences).toEqual([{ key: 'plan', values: ['topk', 'none'] }]);
  });

  it('are named by what differs, and told apart by the key that does', () => {
    const network = (bandwidth: string) => ({ network: { bandwidth } });
    const runs = [
      sampleRun({ method: 'topk', spec: network('1 Gbit/s') }),
      sampleRun({ method: 'topk', spec: network('10 Gbit/s') }),
      sampleRun({ method: 'topk', spec: { ...network('1 Gbit/s'), iterations: 7 } }),
    ];
    expect(compareRuns(runs).groups.map(({ label }) => label)).toEqual([
      ...['iterations 400, bandwidth 1 Gbit/s', 'iterations 400, bandwidth 10 Gbit/s'],
      'iterations 7, bandwidth 1 Gbit/s',
    ]);
    const buckets = [1000, 2000].map((bucketBytes) =>
      sampleRun({ spec: { exchange: { method: 'none', bucketBytes } } }),
    );
    expect(compareRuns(buckets)).toMatchObject({
      groups: [
        { label: 'none, bucketBytes 1000' },
        { label: 'none, bucketBytes 2000' },
      ],
      differences: [
        { key: 'plan', values: ['none', 'none'] },
        { key: 'exchange.bucketBytes', values: ['1000', '2000'] },
      ],
    });
  });

  it('leave parameters out that only the other method has, unless they differ', () => {
    const exchange = (method: string, ratio?: number) =>
      sampleRun({ spec: { exchange: { method, ...(ratio && { ratio }) } } });
    const keys = (runs: readonly ComparedRun[]) =>
      compareRuns(runs).differences.map(({ key }) => key);
    expect(keys([exchange('none'), exchange('topk', 0.1)])).toEqual(['plan']);
    expect(
      keys([exchange('none'), exchange('topk', 0.1), exchange('topk', 0.2)]),
    ).toEqual(['plan', 'exchange.ratio']);
  });

  it('say nothing of a program’s optimiser and batches, which are its own', () => {
    const ours = { workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 } };
    const program = { workload: { command: ['python3', 'train.py'] } };
    const { differences } = compareRuns([
      sampleRun({ spec: { ...ours, optimizer: { lr: 0.3 } } }),
      sampleRun({ spec: program }),
    ]);
    const values = new Map(differences.map((one) => [one.key, one.values]));
    expect(values.get('optimizer.lr')).toEqual(['0.3', undefined]);
    expect(values.get('workload.batchPerRank')).toEqual(['8', undefined]);
  });

  it('count a switch and the backend that was used as settings', () => {
    const runs = [
      sampleRun({ more: { switches: ['5: none → topk'] } }),
      sampleRun({ more: { backend: 'wasm' } }),
      sampleRun({ more: { backend: 'webgpu' } }),
    ];
    expect(compareRuns(runs).differences.map(({ key }) => key)).toEqual([
      ...['backend', 'switches'],
    ]);
  });
});

describe('a ratio', () => {
  it('is the mean cost of the baseline over one’s own, a seed counting once', () => {
    const repeated = [
      ...runsOf('topk', [10, 20]),
      sampleRun({
        method: 'topk',
        seed: 2,
        walls: Array.from({ length: 10 }, () => 4),
        accuracy: { 10: 0.9 },
      }),
    ];
    // Seed 2 took 20 and 40.
    const { baseline, groups } = compareRuns(
      [...repeated, ...runsOf('none', [60, 100])],
      { target: 0.9 },
    );
    expect(baseline).toBe(1);
    expect(groups[0]).toMatchObject({ seeds: [1, 2], reached: 3 });
    expect(groups[0]!.costs!.time).toBeCloseTo(20, 9);
    expect(groups[0]!.speedup).toEqual({ ratio: expect.closeTo(4, 9) as number });
    expect(groups[1]!.speedup).toBeUndefined();
  });

  it('may be that of bytes or iterations, and is missing where one run fell short', () => {
    const one = sampleRun({ method: 'topk', sent: 10, accuracy: { 8: 0.9 } });
    const dense = sampleRun({ accuracy: { 4: 0.9 } });
    const by = (cost: 'bytes' | 'iterations') =>
      compareRuns([dense, one], { by: cost, target: 0.9 }).groups[1]!.speedup?.ratio;
    expect([by('iterations'), by('bytes')]).toEqual([0.5, 50]);
    const short = sampleRun({ method: 'topk', seed: 2, accuracy: { 8: 0.5 } });
    const { groups } = compareRuns([dense, one, short], { target: 0.9 });
    expect(groups[1]).toMatchObject({ reached: 1, runs: { length: 2 } });
    expect([groups[1]!.costs, groups[1]!.speedup]).toEqual([undefined, undefined]);
  });
});

test('caveats name what may make a comparison unfair', () => {
  const at = { startedAt: 1, endedAt: 5 };
  const runs = [
    sampleRun({ more: { ...at, name: 'a' }, accuracy: { 2: 0.5, 4: 0.9 } }),
    sampleRun({ more: { startedAt: 4, endedAt: 6, name: 'b', isDiverged: true } }),
    sampleRun({ more: { ...at, nodes: ['box'], name: 'c', interruptions: 1 } }),
  ];
  expect(compareRuns(runs, { target: 0.9 }).caveats).toEqual([
    'a and b ran at the same time on the same machine, which slows both.',
    'b diverged: a loss or a metric was not finite.',
    'c was interrupted; the lost time is not in the training time.',
    'The target is seen only every 2 iterations: costs to it are up to 100 % too high. Evaluate more often for finer ones.',
  ]);
  const first = sampleRun({ accuracy: { 2: 0.9 } });
  expect(compareRuns([first], { target: 0.9 }).caveats).toEqual([
    'The target is seen only every 2 iterations: the first evaluation may have come long after it, so costs to it are upper bounds. Evaluate more often for finer ones.',
  ]);
});

test('the default target is not where every run begins', () => {
  const run = sampleRun({ accuracy: { 1: 0.902, 2: 0.905, 3: 0.908 } });
  expect(compareRuns([run]).target).toBe(0.907);
});

test('CSV has the numbers of the comparison, whole', () => {
  const comparison = compareRuns(
    [...runsOf('none', [100, 104, 98]), ...runsOf('topk', [30, 31, 29.1])],
    { target: 0.9 },
  );
  const rowsOf = (table: 'results' | 'curves') => {
    const [head, ...rows] = comparisonCsv(comparison, table).trimEnd().split('\n');
    const names = head!.split(',');
    return rows.map((row) =>
      Object.fromEntries(row.split(',').map((cell, at) => [names[at]!, cell])),
    );
  };
  expect(
    rowsOf('results').map(({ group_ratio_low: low, run, time_ms: time }) => [
      run,
      Number(time),
      low === '' ? undefined : Number(low),
    ]),
  ).toEqual(
    comparison.runs.map(({ group, id, outcome }) => [
      id,
      outcome.kind === 'reached' ? outcome.costs.time : NaN,
      comparison.groups[group]!.speedup?.low,
    ]),
  );
  expect(
    rowsOf('curves').map(({ iterations, metric, run }) => [
      run,
      Number(iterations),
      Number(metric),
    ]),
  ).toEqual(
    comparison.runs.flatMap(({ id, points }) =>
      points.map(({ iterations, value }) => [id, iterations, value]),
    ),
  );
});

test('very many observations are bounded, and a target is reached in the same stretch', () => {
  const all = Array.from({ length: 50_000 }, (_, index) => ({
    iterations: index + 1,
    metric: Math.abs(Math.sin(index * 12.9898)) * (index / 50_000),
  }));
  const kept = thinned(all);
  expect(kept.length).toBeLessThanOrEqual(MOST_OBSERVATIONS);
  expect([kept[0], kept.at(-1)]).toEqual([all[0], all.at(-1)]);
  for (const target of [0.1, 0.5, 0.9]) {
    const first = (of: typeof all) =>
      of.find(({ metric }) => metric >= target)!.iterations;
    const later = first(kept as typeof all) - first(all);
    expect(later).toBeGreaterThanOrEqual(0);
    expect(later).toBeLessThan(50_000 / 300);
  }
  expect(thinned(all.slice(0, 2000))).toHaveLength(2000);
});
