/** The report of a comparison: the page's object, drawn and written down. It computes no number. */
import type { Comparison, GroupResult } from '../../shared/comparison/comparison.ts';
import {
  COST_TITLES,
  RATIO_TITLES,
  ratioText,
} from '../../shared/comparison/comparison-words.ts';
import { formatValue, headingOf } from '../../shared/comparison/quantity.ts';
import type { CostId } from '../../shared/comparison/target.ts';
import { goalText } from '../../shared/comparison/verdict.ts';
import { rangeFromZero } from '../../shared/numbers/range-from-zero.ts';
import { PHASES } from '../../shared/records/phases.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  shorten,
} from '../../shared/words/units.ts';
import { RUN_COLOURS, SOFT_COLOUR } from '../picture/colours.ts';
import type { Picture, PictureSeries } from '../picture/picture.ts';
import type { Block, Report } from './document.ts';

/** Dashes of a line, one pattern for each round through the colours, as on the page. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3]];

/** @param made the program that makes it, with its version */
export function comparisonReport(comparison: Comparison, made: string): Report {
  const { caveats, groups, quantity, runs, target, verdict } = comparison;
  const picture = curvesPicture(comparison);
  return {
    title: 'Comparison of runs',
    about: `${formatCount(runs.length)} runs in ${formatCount(groups.length)} configurations.`,
    sections: [
      {
        title: 'Verdict',
        blocks: [
          { kind: 'lead', text: verdict.text },
          ...(caveats.length === 0 ? [] : [{ kind: 'list' as const, items: caveats }]),
        ],
      },
      {
        title:
          quantity === undefined || target === undefined
            ? 'Costs'
            : `Costs to reach ${goalText(quantity, target)}`,
        blocks: costBlocks(comparison),
      },
      {
        title: 'Curves',
        blocks: picture === undefined ? [] : [{ kind: 'picture', picture }],
      },
      { title: 'Where the step goes', blocks: [stepTable(comparison)] },
      { title: 'Settings that differ', blocks: differenceBlocks(comparison) },
      { title: 'Runs', blocks: [runTable(comparison)] },
    ],
    made,
  };
}

const numbered = ({ label }: GroupResult, index: number): string =>
  `${index + 1}  ${label}`;

function costBlocks(comparison: Comparison): readonly Block[] {
  const { baseline, by, groups, level, quantity } = comparison;
  if (quantity === undefined) return [];
  return [
    {
      kind: 'table',
      head: [
        ...['Configuration', 'runs', 'seeds', 'reached', 'iterations', 'passes'],
        ...['training time', 'sent by a rank', RATIO_TITLES[by].toLowerCase()],
        ...[`${shorten(formatPercent(level))} interval`, 'best'],
      ],
      rows: groups.map((group, index) => [
        numbered(group, index),
        formatCount(group.runs.length),
        formatCount(group.seeds.length),
        `${group.reached}/${group.runs.length}`,
        formatCount(group.costs?.iterations),
        group.costs?.passes === undefined ? '–' : group.costs.passes.toFixed(2),
        formatDuration(group.costs?.time),
        formatBytes(group.costs?.bytes),
        ...ratioText(group, index === baseline),
        formatValue(quantity, group.best),
      ]),
    },
    {
      kind: 'text',
      text: 'Means over seeds. Training time is without evaluations, checkpoints and interruptions; bytes are the mean over ranks. Ratios need every run to reach the target, their intervals three seeds.',
    },
  ];
}

const COST_FORMATS: Readonly<Record<CostId, (value: number) => string>> = {
  time: formatDuration,
  bytes: formatBytes,
  iterations: formatCount,
  passes: (value) => value.toFixed(2),
};

function curvesPicture({
  by,
  groups,
  quantity,
  runs,
  target,
}: Comparison): Picture | undefined {
  if (quantity === undefined) return undefined;
  const curves = runs.map(({ group, points, seed }): PictureSeries => ({
    label: `${groups[group]!.label}, seed ${seed}`,
    colour: RUN_COLOURS[group % RUN_COLOURS.length]!,
    look: 'line',
    dash: DASHES[Math.floor(group / RUN_COLOURS.length) % DASHES.length]!,
    points: points.flatMap(({ value, ...costs }) => {
      const x = costs[by];
      return x === undefined ? [] : [{ x, y: value }];
    }),
  }));
  const all = curves.flatMap(({ points }) => points);
  if (all.length === 0) return undefined;
  const most = all.reduce((end, { x }) => Math.max(end, x), 0) || 1;
  const values = [...all.map(({ y }) => y), ...(target === undefined ? [] : [target])];
  const least = values.reduce((low, value) => Math.min(low, value), 0.9);
  const range =
    quantity.format === 'share'
      ? { min: Math.floor(10 * least) / 10, max: 1 }
      : rangeFromZero(values);
  return {
    title: headingOf(quantity),
    unit: `by ${COST_TITLES[by].toLowerCase()}`,
    caption: `A curve for each run${target === undefined ? '' : `; the target is ${goalText(quantity, target)}`}.`,
    x: {
      label: COST_TITLES[by],
      min: 0,
      max: most * 1.02,
      format: (value) => shorten(COST_FORMATS[by](value)),
    },
    y: {
      label: '',
      ...range,
      format: (value) => shorten(formatValue(quantity, value)),
    },
    series: [
      ...curves,
      ...(target === undefined
        ? []
        : [
            {
              label: 'target',
              colour: SOFT_COLOUR,
              look: 'dashed' as const,
              points: [0, most * 1.02].map((x) => ({ x, y: target })),
            },
          ]),
    ],
  };
}

function stepTable({ groups }: Comparison): Block {
  const phases = PHASES.filter((phase) =>
    groups.some(({ step }) => (step?.phases[phase] ?? 0) > 0),
  );
  return {
    kind: 'table',
    head: ['Mean of a step', 'step', ...phases, 'hidden', 'sent'],
    rows: groups.map((group, index) => [
      numbered(group, index),
      formatDuration(group.step?.wall),
      ...phases.map((phase) => formatDuration(group.step?.phases[phase])),
      formatDuration(group.step?.overlapped),
      formatBytes(group.step?.sent),
    ]),
  };
}

function differenceBlocks({ differences, groups }: Comparison): readonly Block[] {
  if (differences.length === 0) return [];
  return [
    {
      kind: 'table',
      head: ['Setting', ...groups.map(numbered)],
      rows: differences.map(({ key, values }) => [
        key,
        ...values.map((value) => value ?? '–'),
      ]),
      texts: [0, ...groups.map((_, index) => index + 1)],
    },
  ];
}

function runTable({ quantity, runs }: Comparison): Block {
  return {
    kind: 'table',
    head: ['Run', 'name', 'configuration', 'seed', 'state', 'outcome', 'best', 'step'],
    rows: runs.map(({ best, group, id, name, outcome, seed, state, step }) => [
      id,
      name,
      String(group + 1),
      String(seed),
      state,
      outcome.kind === 'reached'
        ? `reached after ${formatCount(outcome.costs.iterations)} iterations`
        : outcome.kind,
      quantity === undefined ? '–' : formatValue(quantity, best),
      formatDuration(step?.wall),
    ]),
    texts: [0, 1, 4, 5],
  };
}
