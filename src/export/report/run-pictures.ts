/** The charts of a run as pictures: the same bins as on its page. */
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import { rangeFromZero } from '../../shared/numbers/range-from-zero.ts';
import { formatMetric, type MetricKind } from '../../shared/records/metric.ts';
import { PHASES } from '../../shared/records/phases.ts';
import { capitalized } from '../../shared/words/capitalized.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatQuantity,
  shorten,
} from '../../shared/words/units.ts';
import { PHASE_COLOURS, SOFT_COLOUR } from '../picture/colours.ts';
import { phasePattern } from '../picture/phase-patterns.ts';
import type {
  Picture,
  PictureAxis,
  PicturePoint,
  PictureSeries,
} from '../picture/picture.ts';
import { curveOf, meanOf, type RunBin } from './run-bins.ts';

export interface PicturedRun {
  readonly iterations: number;
  readonly bins: readonly RunBin[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly metric: MetricKind;
  /** Fences of switches, with the plan from there on. */
  readonly markers: NonNullable<Picture['markers']>;
}

/** Pictures of what was observed, in the order of the page. */
export function runPictures(run: PicturedRun): readonly Picture[] {
  if (run.bins.length === 0) return [];
  return [
    phasePicture(run),
    ...curvePictures(run),
    bytesPicture(run),
    ...densityPicture(run),
  ];
}

const iterationsAxis = ({ iterations }: PicturedRun): PictureAxis => ({
  label: 'iteration',
  min: -0.5,
  max: Math.max(1, iterations) - 0.5,
  format: (value) => formatCount(value),
});

/** An axis from 0, or from below it where values are, as on the page. */
const fromZero = (
  values: readonly number[],
  format: (value: number) => string,
): PictureAxis => ({
  label: '',
  ...rangeFromZero(values),
  format: (value) => shorten(format(value)),
});

function phasePicture(run: PicturedRun): Picture {
  const { bins, markers } = run;
  const base = bins.map(() => 0);
  const phases = PHASES.filter((phase) => (meanOf(bins, phase) ?? 0) > 0);
  const series = phases.map((phase): PictureSeries => {
    const bottoms = [...base];
    const points = bins.map((bin, index): PicturePoint => {
      const y = meanOf([bin], phase) ?? 0;
      base[index]! += y;
      return { x: (bin.from + bin.to - 1) / 2, y };
    });
    return {
      label: phase,
      colour: PHASE_COLOURS[phase],
      look: 'bars',
      pattern: phasePattern(phase, false),
      points,
      base: bottoms,
      widths: bins.map(({ from, to }) => to - from),
    };
  });
  const wall = meanOf(bins, 'wall');
  const overlapped = meanOf(bins, 'overlapped') ?? 0;
  return {
    title: 'Where the step goes',
    unit: 'time of an iteration, mean over ranks',
    caption:
      `An iteration takes ${formatDuration(wall)} on average` +
      (overlapped > 0
        ? `; another ${formatDuration(overlapped)} of communication is hidden behind compute.`
        : '.'),
    x: iterationsAxis(run),
    y: fromZero(base, formatDuration),
    series,
    markers,
  };
}

function curvePictures(run: PicturedRun): readonly Picture[] {
  const { bins, evaluations, markers, metric } = run;
  return (['loss', 'metric'] as const).flatMap((field): readonly Picture[] => {
    const mean = curveOf(bins, field);
    const dots = evaluations.flatMap((event) => {
      const y = event[field];
      return y === undefined ? [] : [{ x: event.iteration, y }];
    });
    const averaged = evaluations.flatMap((event) => {
      const y = event.averaged?.[field];
      return y === undefined ? [] : [{ x: event.iteration, y }];
    });
    if (mean.length + dots.length === 0) return [];
    const edges = bins.flatMap((bin) => {
      const extremes = bin.extremes(field);
      const x = (bin.from + bin.to - 1) / 2;
      return extremes === undefined ? [] : [{ x, extremes }];
    });
    const colour = PHASE_COLOURS[field === 'loss' ? 'compute' : 'compress'];
    const format = (value: number): string =>
      field === 'loss' ? formatQuantity(value) : formatMetric(value, metric);
    const isShare = field === 'metric' && metric.format === 'share';
    const values = [
      ...[...mean, ...dots, ...averaged].map(({ y }) => y),
      ...edges.map(({ extremes }) => extremes[0]),
    ];
    const last = evaluations.findLast((event) => event[field] !== undefined)?.[field];
    const series: readonly PictureSeries[] = [
      {
        label: 'least to most of the ranks',
        look: 'band',
        colour,
        points: edges.map(({ extremes, x }) => ({ x, y: extremes[0] })),
        upper: edges.map(({ extremes, x }) => ({ x, y: extremes[1] })),
      },
      {
        label: 'training batches, mean over ranks',
        look: 'line',
        colour,
        points: mean,
      },
      { label: 'test set', look: 'dots', colour: PHASE_COLOURS.wait, points: dots },
      {
        label: 'test set, averaged model',
        look: 'dots',
        colour: PHASE_COLOURS.apply,
        points: averaged,
      },
    ];
    return [
      {
        title: field === 'loss' ? 'Loss' : capitalized(metric.title),
        unit: 'by iteration',
        caption:
          `Training batches ${shorten(format(mean.at(-1)?.y ?? NaN))} at the end` +
          (last === undefined ? '.' : `, test set ${shorten(format(last))}.`),
        x: iterationsAxis(run),
        y: isShare
          ? { label: '', min: 0, max: 1, format: (value) => shorten(format(value)) }
          : fromZero(values, format),
        series: series.filter(({ points }) => points.length > 0),
        markers,
      },
    ];
  });
}

function bytesPicture(run: PicturedRun): Picture {
  // A logarithmic axis has no place for 0: nothing was sent there, so the line has a gap.
  const positive = (field: 'dense' | 'payload' | 'wireSent'): PicturePoint[] =>
    curveOf(run.bins, field).map(({ x, y }) => ({ x, y: y > 0 ? y : NaN }));
  const all: readonly PictureSeries[] = [
    { label: 'dense', look: 'dashed', colour: SOFT_COLOUR, points: positive('dense') },
    {
      label: 'payload',
      look: 'line',
      colour: PHASE_COLOURS.compress,
      points: positive('payload'),
    },
    {
      label: 'wire, sent',
      look: 'line',
      colour: PHASE_COLOURS.send,
      points: positive('wireSent'),
    },
  ];
  const series = all.filter(({ points }) => points.some(({ y }) => y > 0));
  const values = series
    .flatMap(({ points }) => points.map(({ y }) => y))
    .filter((y) => y > 0);
  const low = Math.floor(Math.log10(Math.min(...values, Infinity) || 1));
  const high = Math.ceil(Math.log10(Math.max(...values, 0) || 1));
  const isKnown = values.length > 0;
  const sent = meanOf(run.bins, 'wireSent');
  return {
    title: 'Bytes on the wire',
    unit: 'per rank and iteration, log scale',
    caption:
      sent === undefined
        ? `${formatBytes(meanOf(run.bins, 'dense'))} of dense gradient a step.`
        : `A rank sends ${formatBytes(sent)} a step for ${formatBytes(meanOf(run.bins, 'dense'))} of dense gradient, on average over the run.`,
    x: iterationsAxis(run),
    y: {
      label: '',
      min: isKnown ? 10 ** low : 1,
      max: isKnown ? 10 ** Math.max(high, low + 1) : 10,
      logarithmic: true,
      format: (value) => shorten(formatBytes(value)),
    },
    series,
    markers: run.markers,
  };
}

function densityPicture(run: PicturedRun): readonly Picture[] {
  const density = meanOf(run.bins, 'density');
  if (density === undefined) return [];
  // A gap where something was sent that has no density.
  const points = run.bins.flatMap((bin): PicturePoint[] => {
    const isDense = meanOf([bin], 'wireSent') !== 0;
    const y = meanOf([bin], 'density') ?? (isDense ? NaN : undefined);
    return y === undefined ? [] : [{ x: (bin.from + bin.to - 1) / 2, y }];
  });
  return [
    {
      title: 'Density',
      unit: 'share of entries that a rank sent',
      caption: `${formatPercent(density)} on average.`,
      x: iterationsAxis(run),
      y: fromZero(
        points.map(({ y }) => y),
        formatPercent,
      ),
      series: [{ label: 'sent', look: 'line', colour: PHASE_COLOURS.compute, points }],
      markers: run.markers,
    },
  ];
}
