/**
 * Loss or metric as a table: a row for each bin, and one for each evaluation in a bin of several
 * iterations, since all of them are drawn.
 */
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import { extremesOf, meanOf, type Bin } from '../state/history/bin.ts';
import { valueAt, type Point } from './curves.ts';
import {
  iterationCell,
  valueCell,
  type TableCell,
  type TableRow,
  type TableTwin,
} from './table-twin.ts';

interface DrawnMetric {
  readonly field: 'loss' | 'metric';
  readonly bins: readonly Bin[];
  readonly smooth: readonly Point[];
  /** Evaluations that are shown, oldest first. */
  readonly evaluations: readonly EvaluationRecord[];
}

export function metricTable({
  bins,
  evaluations,
  field,
  smooth,
}: DrawnMetric): TableTwin {
  const hasAveraged = evaluations.some(
    ({ averaged }) => averaged?.[field] !== undefined,
  );
  const tested = (event: EvaluationRecord | undefined): readonly TableCell[] => [
    exact(event?.[field]),
    ...(hasAveraged ? [exact(event?.averaged?.[field])] : []),
  ];
  const besides = new Set(evaluations);
  const ofBins = bins.map((bin): Placed => {
    const extremes = extremesOf(bin, field);
    const own =
      bin.to - bin.from === 1
        ? evaluations.findLast(({ iteration }) => iteration === bin.from)
        : undefined;
    if (own !== undefined) besides.delete(own);
    return {
      at: bin.from,
      key: bin.from,
      cells: [
        iterationCell(bin),
        exact(meanOf(bin, field)),
        exact(extremes?.[0]),
        exact(extremes?.[1]),
        exact(valueAt(smooth, bin)),
        ...tested(own),
      ],
    };
  });
  const ofEvaluations = [...besides].map((event, index): Placed => {
    const { iteration } = event;
    return {
      at: iteration,
      key: `evaluation ${iteration} ${index}`,
      cells: [
        iterationCell({ from: iteration, to: iteration + 1 }),
        ...['', '', '', ''],
        ...tested(event),
      ],
    };
  });
  return {
    columns: [
      ...['iteration', 'mean', 'smallest', 'largest', 'smoothed', 'test set'],
      ...(hasAveraged ? ['test set, averaged model'] : []),
    ],
    // Sorting keeps the order of equals: a bin is before the evaluations in it.
    rows: [...ofBins, ...ofEvaluations].toSorted((a, b) => a.at - b.at),
  };
}

interface Placed extends TableRow {
  /** The first iteration. */
  readonly at: number;
}

const exact = (value: number | undefined): TableCell =>
  valueCell(value, (of) => String(Number(of.toPrecision(6))));
