/** A comparison as tables for a terminal. */
import type { Comparison, GroupResult } from '../../shared/comparison/comparison.ts';
import { formatValue, headingOf } from '../../shared/comparison/quantity.ts';
import { goalText } from '../../shared/comparison/verdict.ts';
import { RATIO_TITLES, ratioText } from '../../shared/comparison/comparison-words.ts';
import { PHASES } from '../../shared/records/phases.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  shorten,
} from '../../shared/words/units.ts';
import { textTable } from './text-table.ts';

/** Phases that take less of every step are left out. */
const LEAST_SHARE = 0.005;

export function comparisonText(comparison: Comparison): string {
  const { caveats, quantity, target, verdict } = comparison;
  const goal =
    quantity === undefined || target === undefined
      ? []
      : [
          `Costs to reach ${goalText(quantity, target)} (${headingOf(quantity).toLowerCase()}); means over seeds`,
          results(comparison),
          '',
        ];
  return [
    verdict.text,
    ...caveats.map((caveat) => `Note: ${caveat}`),
    '',
    ...goal,
    'Milliseconds of a step, mean over iterations, ranks and runs',
    steps(comparison),
    ...(comparison.differences.length === 0
      ? []
      : ['', 'Settings that differ', differences(comparison)]),
  ].join('\n');
}

const numbered = ({ label }: GroupResult, index: number): string =>
  `${index + 1}  ${label}`;

function results({ baseline, by, groups, level, quantity }: Comparison): string {
  const head = [
    ...['', 'runs', 'seeds', 'reached', 'iterations', 'passes', 'training time'],
    ...[
      'sent by a rank',
      RATIO_TITLES[by].toLowerCase(),
      `${shorten(formatPercent(level))} interval`,
      'best',
    ],
  ];
  const rows = groups.map((group, index) => {
    const { best, costs, reached, runs, seeds } = group;
    return [
      numbered(group, index),
      String(runs.length),
      String(seeds.length),
      `${reached}/${runs.length}`,
      formatCount(costs?.iterations),
      costs?.passes === undefined ? '–' : costs.passes.toFixed(2),
      formatDuration(costs?.time),
      formatBytes(costs?.bytes),
      ...ratioText(group, index === baseline),
      formatValue(quantity!, best),
    ];
  });
  return textTable(
    [head, ...rows],
    ['left', ...head.slice(1).map(() => 'right' as const)],
  );
}

function steps({ groups }: Comparison): string {
  const phases = PHASES.filter((phase) =>
    groups.some(
      ({ step }) => (step?.phases[phase] ?? 0) > LEAST_SHARE * (step?.wall ?? 0),
    ),
  );
  const cell = (time: number | undefined): string =>
    time === undefined ? '–' : time.toFixed(2);
  const head = ['', 'step', ...phases, 'overlapped', 'sent B'];
  const rows = groups.map((group, index) => [
    numbered(group, index),
    cell(group.step?.wall),
    ...phases.map((phase) => cell(group.step?.phases[phase])),
    cell(group.step?.overlapped),
    formatCount(group.step?.sent),
  ]);
  return textTable(
    [head, ...rows],
    ['left', ...head.slice(1).map(() => 'right' as const)],
  );
}

function differences({ differences: all, groups }: Comparison): string {
  const head = ['', ...groups.map((_, index) => String(index + 1))];
  const rows = all.map(({ key, values }) => [
    key,
    ...values.map((value) => value ?? '–'),
  ]);
  return textTable(
    [head, ...rows],
    head.map(() => 'left' as const),
  );
}
