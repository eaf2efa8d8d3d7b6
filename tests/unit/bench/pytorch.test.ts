/** The pure parts of the benchmark of PyTorch programs: what it reads, and its tables. */
import { expect, test } from 'vitest';
import {
  latePairs,
  observedRow,
  observedTable,
  pairOf,
} from '../../../bench/pytorch/observing.ts';
import { predictionIn, type Result } from '../../../bench/pytorch/programs.ts';
import { crowded, stepRow, stepTable } from '../../../bench/pytorch/step-table.ts';

const result = (times: readonly number[], more: Partial<Result> = {}): Result => ({
  torch: '2.13.0',
  threads: 1,
  blas: 'MKL',
  capability: 'AVX512',
  parameters: 10,
  times,
  computing: [1],
  countedFrom: 1000,
  ...more,
});
const about = { model: '0.2M', ranks: 4, cores: 2, link: 'loopback' };

test('the first prediction of an observed run is found among its records', () => {
  const records = [
    { type: 'log', at: 1, text: '{"type":"forecast","at":2}' },
    { type: 'forecast', at: 900 },
    { type: 'forecast', at: 950 },
  ];
  const lines = records.map((record) => JSON.stringify(record));
  expect(predictionIn(lines.join('\n'))).toBe(900);
  expect(predictionIn(`${lines[0]}\n`)).toBeUndefined();
});

test('a joined program has the time of its bridge, and its share of the step', () => {
  const rows = [
    stepRow({ ...about, way: 'DDP' }, result([9, 10, 11])),
    stepRow(
      { ...about, way: 'topk' },
      // The middle of the sums is not the sum of the middles.
      result([4, 5, 6], { copies: [0.1, 0.3, 0.2], messages: [0.4, 0, 0.05] }),
    ),
  ];
  expect(rows[0]!.bridge).toBeUndefined();
  expect(rows[1]!.bridge).toEqual({ ms: 0.3, copiesMs: 0.2, messagesMs: 0.05 });
  const [head, dense, ours] = stepTable(rows, 'DDP')
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  expect(head!.slice(4)).toEqual([
    ...['step ms', 'alone ms', 'bridge ms', 'of step', 'faster'],
  ]);
  expect(dense!.slice(4)).toEqual(['10.0', '1.0', '1.00×']);
  expect(ours!.slice(4)).toEqual(['5.0', '1.0', '0.30', '6.0 %', '2.00×']);
});

test('ranks without a core of their own are told', () => {
  expect(crowded([1, 2], 2)).toEqual([]);
  expect(crowded([2, 4], 2)).toEqual([
    expect.stringContaining('4 ranks take turns on 2 cores') as string,
  ]);
});

test('being observed costs the middle of the pairs’ ratios, with their spread', () => {
  const pairs = [
    { alone: 20, observed: 20.1, isLate: false },
    { alone: 40, observed: 39.8, isLate: true },
    { alone: 20, observed: 20.6, isLate: false },
  ];
  const row = observedRow(about, pairs);
  expect(row).toMatchObject({ alone: 20, observed: 20.6, ratio: 20.1 / 20, late: 1 });
  expect(observedTable([row])).toMatch(/ \+0\.5 % +−0\.5 % to \+3\.0 % +3$/);
  expect(latePairs([row])).toEqual([
    '0.2M, 4 ranks: in 1 of 3 pairs the methods were not timed before the steps that count.',
  ]);
});

test.each([
  [999, false],
  [1001, true],
  [undefined, true],
])(
  'methods that were timed at %s are late for steps from 1000 on: %s',
  (at, isLate) => {
    const alone = { result: result([1, 2, 3]), predictedAt: undefined };
    const observed = { result: result([2, 3, 4]), predictedAt: at };
    expect(pairOf(alone, observed)).toEqual({ alone: 2, observed: 3, isLate });
  },
);
