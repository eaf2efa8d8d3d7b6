/**
 * Phases per iteration in words and tables: the text of a bar, the table, and the
 * summary. Shared by the chart and its tests.
 */
import { PHASES, type Phase } from '../../shared/records/phases.ts';
import { formatDuration, formatWholePercent } from '../../shared/words/units.ts';
import { extremesOf, meanOf, widestOf, type Bin } from '../state/history/bin.ts';
import {
  iterationCell,
  iterationLabel,
  valueCell,
  type TableCell,
  type TableTwin,
} from './table-twin.ts';

/** Most bars of such a chart. */
export const PHASE_BARS = 160;

/** @param phases that an iteration of the run has */
export function phaseTable(bins: readonly Bin[], phases: readonly Phase[]): TableTwin {
  const merged = isMerged(bins);
  return {
    columns: [
      'iteration',
      ...phases.map((phase) => `${phase} ms`),
      'wall ms',
      ...(merged ? ['wall least ms', 'wall most ms'] : []),
      'overlapped ms',
    ],
    rows: bins.map((bin) => ({
      key: bin.from,
      cells: [
        iterationCell(bin),
        ...phases.map((phase) => milliseconds(meanOf(bin, phase))),
        milliseconds(meanOf(bin, 'wall')),
        ...(merged ? [0, 1] : []).map((end) =>
          milliseconds(extremesOf(bin, 'wall')?.[end]),
        ),
        milliseconds(meanOf(bin, 'overlapped')),
      ],
    })),
  };
}

/** One bar in words, its largest phases first. */
export function describeBar(bin: Bin): string {
  const wall = meanOf(bin, 'wall') ?? 0;
  const parts = PHASES.map((phase): [Phase, number] => [phase, meanOf(bin, phase) ?? 0])
    .filter(([, time]) => wall > 0 && time / wall >= 0.01)
    .toSorted((a, b) => b[1] - a[1])
    .map(([phase, time]) => `${phase} ${formatDuration(time)}`);
  const extremes = isMerged([bin]) ? extremesOf(bin, 'wall') : undefined;
  const range =
    extremes === undefined ? '' : ` (${extremes.map(formatDuration).join(' to ')})`;
  return `iteration ${iterationLabel(bin)}: ${formatDuration(wall)}${range}; ${parts.join(', ')}`;
}

/** The whole chart in a sentence, weighted by the iterations of its bars. */
export function describePhases(bins: readonly Bin[], who: string): string {
  if (bins.length === 0) return 'Waiting for the first iteration.';
  let iterations = 0;
  let wall = 0;
  const times = new Map<Phase, number>();
  for (const bin of bins) {
    iterations += bin.count;
    wall += bin.count * (meanOf(bin, 'wall') ?? 0);
    for (const phase of PHASES) {
      const time = (times.get(phase) ?? 0) + bin.count * (meanOf(bin, phase) ?? 0);
      times.set(phase, time);
    }
  }
  const largest = [...times]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, 3)
    .filter(([, time]) => time > 0)
    .map(([phase, time]) => `${phase} ${formatWholePercent(time / wall)}`);
  const width = widestOf(bins);
  const bars =
    width === 1 ? 'one bar per iteration' : `each bar the mean of ${width} iterations`;
  return `${who}, ${bars}: ${formatDuration(wall / iterations)} each, ${largest.join(', ')}.`;
}

/** Whether bars stand for several iterations. */
const isMerged = (bins: readonly Bin[]): boolean => widestOf(bins) > 1;

const milliseconds = (value: number | undefined): TableCell =>
  valueCell(value, (time) => time.toFixed(3));
