/** Predicted time, bytes and memory of whole runs, before any of them is launched. */
import type { ErrorData } from '../errors/errors.ts';
import { formatBytes, formatDuration } from '../words/units.ts';

/** Training alone: starting, evaluating and writing checkpoints come on top of it. */
export interface RunForecast {
  /** Milliseconds of a step. */
  readonly step: number;
  /** Milliseconds of a step in which the model computes. */
  readonly compute: number;
  readonly iterations: number;
  /** Milliseconds of all iterations. */
  readonly time: number;
  /** Bytes that the busiest rank sends in all iterations, framing excluded. */
  readonly bytes: number;
  /** Bytes of memory of a rank. */
  readonly memory: number;
  /** Sources of the computation's time and of the network's constants, in words. */
  readonly computeOrigin: string;
  readonly network: string;
}

/** A point of a sweep: its prediction, or why there is none. */
export interface PointForecast {
  readonly point: number;
  readonly forecast?: RunForecast | undefined;
  readonly error?: ErrorData | undefined;
}

/** All runs of a sweep together. */
export interface SweepForecast {
  readonly runs: number;
  /** Runs of points that could be predicted; the sums are theirs. */
  readonly predicted: number;
  /** Milliseconds, one run after another. */
  readonly time: number;
  /** Bytes that the busiest ranks of the runs send together. */
  readonly bytes: number;
  /** Bytes of memory of the largest rank. */
  readonly memory: number;
  /** Reasons why points could not be predicted, each once. */
  readonly unpredicted: readonly {
    readonly error: ErrorData;
    readonly points: readonly number[];
  }[];
}

/** @param seeds number of runs of each point */
export function sweepForecast(
  points: readonly PointForecast[],
  seeds: number,
): SweepForecast {
  const known = points.flatMap(({ forecast }) => forecast ?? []);
  const reasons = new Map<string, { error: ErrorData; points: number[] }>();
  for (const { error, point } of points) {
    if (error === undefined) continue;
    const reason = `${error.code}: ${error.message}`;
    const same = reasons.get(reason);
    if (same === undefined) reasons.set(reason, { error, points: [point] });
    else same.points.push(point);
  }
  const sum = (of: (run: RunForecast) => number): number =>
    seeds * known.reduce((total, run) => total + of(run), 0);
  return {
    runs: points.length * seeds,
    predicted: known.length * seeds,
    time: sum(({ time }) => time),
    bytes: sum(({ bytes }) => bytes),
    memory: known.reduce((largest, { memory }) => Math.max(largest, memory), 0),
    unpredicted: [...reasons.values()],
  };
}

/** The sums in one sentence. */
export function sweepForecastText({
  bytes,
  memory,
  predicted,
  runs,
  time,
}: SweepForecast): string {
  if (predicted === 0) return 'No run of these can be predicted.';
  const which =
    predicted === runs ? count(runs) : `${predicted} of ${count(runs)} together`;
  return (
    `${which}: about ${formatDuration(time)} of training, ${formatBytes(bytes)} sent by a rank, ` +
    `up to ${formatBytes(memory)} of memory for a rank.`
  );
}

/** The prediction's grounds, in one sentence. */
export function groundsText(forecasts: readonly RunForecast[]): string {
  const [first] = forecasts;
  if (first === undefined) return '';
  const computes = new Set(forecasts.map(({ computeOrigin }) => computeOrigin));
  const networks = new Set(forecasts.map(({ network }) => network));
  return (
    `Computation: ${[...computes].join(' or ')}. Network: ${[...networks].join(' or ')}. ` +
    'Runs go one after another and overlap nothing; starting and evaluating come on top.'
  );
}

const count = (runs: number): string => `${runs} ${runs === 1 ? 'run' : 'runs'}`;
