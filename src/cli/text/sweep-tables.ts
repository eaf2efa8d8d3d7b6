/** Tables of sweeps for a terminal: its points, its results, its queue. */
import type { Comparison } from '../../shared/comparison/comparison.ts';
import { ratioText } from '../../shared/comparison/comparison-words.ts';
import { formatValue, headingOf } from '../../shared/comparison/quantity.ts';
import { goalText } from '../../shared/comparison/verdict.ts';
import { formatError } from '../../shared/errors/errors.ts';
import { progressText } from '../../shared/spec/program-spec.ts';
import type { PointForecast } from '../../shared/forecast/run-forecast.ts';
import { shortKey } from '../../shared/sweep/sweep-names.ts';
import type { PointResult } from '../../shared/sweep/sweep-results.ts';
import type { SweepDetail, SweepPointStatus } from '../../shared/sweep/sweep-status.ts';
import { formatBytes, formatCount, formatDuration } from '../../shared/words/units.ts';
import { textTable } from './text-table.ts';

/** A row per point: its number and the values in which points differ. */
export function pointTable(
  keys: readonly string[],
  points: readonly SweepPointStatus[],
  width: number | undefined,
): string {
  const head = ['point', ...keys.map((key) => shortKey(key, keys))];
  const rows = points.map((point) => [String(point.number), ...valuesOf(point, keys)]);
  return textTable(
    [head, ...rows],
    ['right', ...keys.map(() => 'left' as const)],
    width,
  );
}

/** A row per point: its values, and what one run of it is predicted to take. */
export function forecastTable(
  keys: readonly string[],
  points: readonly SweepPointStatus[],
  forecasts: readonly PointForecast[],
  width: number | undefined,
): string {
  const predicted = ['step', 'iterations', 'time of a run', 'sent by a rank', 'memory'];
  const head = ['point', ...keys.map((key) => shortKey(key, keys)), ...predicted];
  const rows = points.map((point, index) => {
    const run = forecasts[index]?.forecast;
    return [
      String(point.number),
      ...valuesOf(point, keys),
      formatDuration(run?.step),
      formatCount(run?.iterations),
      formatDuration(run?.time),
      formatBytes(run?.bytes),
      formatBytes(run?.memory),
    ];
  });
  const align = [
    'right' as const,
    ...keys.map(() => 'left' as const),
    ...predicted.map(() => 'right' as const),
  ];
  return textTable([head, ...rows], align, width);
}

/** A row per point: its values, how its runs ended, and what the target cost them. */
export function resultTable(
  keys: readonly string[],
  results: readonly PointResult[],
  comparison: Comparison | undefined,
  width: number | undefined,
): string {
  const quantity = comparison?.quantity;
  const head = [
    'point',
    ...keys.map((key) => shortKey(key, keys)),
    ...['runs', 'at the end', 'reached', 'training time', 'sent by a rank', 'faster'],
  ];
  const rows = results.map((result) => {
    const { completed, final, group, planned } = result;
    const value =
      final === undefined || quantity === undefined
        ? '–'
        : formatValue(quantity, final.mean) +
          (final.half === undefined ? '' : ` ± ${formatValue(quantity, final.half)}`);
    const isBaseline = result.groupIndex === comparison?.baseline;
    return [
      String(result.number),
      ...valuesOf(result, keys),
      `${completed}/${planned}`,
      value,
      group === undefined ? '–' : `${group.reached}/${group.runs.length}`,
      formatDuration(group?.costs?.time),
      formatBytes(group?.costs?.bytes),
      group === undefined ? '–' : ratioText(group, isBaseline)[0]!,
    ];
  });
  const align = [
    'right' as const,
    ...keys.map(() => 'left' as const),
    ...Array<'right'>(6).fill('right'),
  ];
  const target = comparison?.target;
  const goal =
    quantity === undefined || target === undefined
      ? ''
      : `${headingOf(quantity)} at the end, mean and 95 % interval over seeds; costs to reach ` +
        `${goalText(quantity, target)}\n`;
  return goal + textTable([head, ...rows], align, width);
}

/** A row per run, in the order of the queue. */
export function queueTable(
  { keys, points, runs }: SweepDetail,
  width: number | undefined,
): string {
  const head = [
    'number',
    'point',
    ...keys.map((key) => shortKey(key, keys)),
    ...['seed', 'state', 'run', 'iterations', 'error'],
  ];
  const rows = runs.map((run) => {
    const point = points.find(({ number }) => number === run.point);
    return [
      String(run.number),
      String(run.point),
      ...(point === undefined ? keys.map(() => '') : valuesOf(point, keys)),
      String(run.seed),
      run.state,
      run.run ?? '',
      run.iterations === undefined || run.iterationsPlanned === undefined
        ? ''
        : progressText(run.iterations, run.iterationsPlanned),
      run.error === undefined ? '' : formatError(run.error),
    ];
  });
  const align = [
    ...['right' as const, 'right' as const],
    ...keys.map(() => 'left' as const),
    ...['right' as const, 'left' as const, 'left' as const],
    ...['right' as const, 'left' as const],
  ];
  return textTable([head, ...rows], align, width);
}

const valuesOf = (
  { values }: SweepPointStatus,
  keys: readonly string[],
): readonly string[] => keys.map((key) => values[key] ?? '–');
