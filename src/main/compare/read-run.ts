/**
 * Reads a stored run as comparisons need it: from bins of all its records (`store/run-levels.ts`),
 * its evaluations and what its events say of it. The cost follows the number of bins, not the
 * length of the run.
 */
import {
  CURVE_BINS,
  type ComparedRun,
  type MeanStep,
  type Observation,
  type RunCurve,
} from '../../shared/comparison/compared-run.ts';
import { thinned } from './thinned-observations.ts';
import { describePlan, describeSwitch } from '../../shared/plan/exchange-plan.ts';
import { ACCURACY } from '../../shared/records/metric.ts';
import { PHASES, type Phase } from '../../shared/records/phases.ts';
import { CELL_COUNT, COUNTS } from '../../shared/records/chart-cells.ts';
import { COLUMN, type Field } from '../../shared/records/chart-fields.ts';
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import { pastRestarts } from '../../shared/records/interruption.ts';
import { hasDiverged } from '../../shared/records/training-diverged.ts';
import type { BinsPiece } from '../../shared/rpc/run-pieces.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { binWidth } from '../../shared/numbers/bin-width.ts';
import type { RunStore } from '../store/run-store.ts';

/** A bin of a run's iterations. */
interface Bin {
  readonly start: number;
  /** The mean of a field over its records; undefined: not observed. */
  readonly mean: (field: Field) => number | undefined;
}

/** @throws GradwireError `RUN_UNKNOWN` */
export function readComparedRun(store: RunStore, id: string): ComparedRun {
  const detail = store.reads.shown(id);
  const { events, iterations, spec } = detail;
  const started = events.find((event) => event.type === 'started');
  const width = binWidth(iterations, CURVE_BINS);
  const bins = readBins(store, id, { iterations, width });
  // A rank's threads compute as many iterations at a time.
  const threads = asynchronousOf(spec)?.trainerThreads ?? 1;
  return {
    id,
    name: detail.name,
    state: detail.state,
    createdAt: detail.createdAt,
    startedAt: started?.at,
    endedAt: detail.endedAt,
    nodes: detail.nodes,
    iterations,
    spec,
    plan: started === undefined ? spec.exchange.method : describePlan(started.plan),
    backend: started?.backend,
    switches: events
      .filter((event) => event.type === 'switch')
      .map(({ fence, from, to }) => `${fence}: ${describeSwitch(from, to)}`),
    metricKind: detail.metricKind ?? ACCURACY,
    iterationsPerPass: started?.iterationsPerPass,
    isDiverged: hasDiverged(detail.error, events),
    interruptions: pastRestarts(events).length,
    missing: detail.missing ?? [],
    curve: curveOf(bins, { iterations, threads, width }),
    observations: thinned(store.reads.evaluations(id, 0, Infinity).map(observationOf)),
    step: stepOf(bins, width, iterations),
  };
}

/** Bins that begin below the number of iterations, in order. */
function readBins(
  store: RunStore,
  id: string,
  { iterations, width }: { readonly iterations: number; readonly width: number },
): readonly Bin[] {
  const bins: Bin[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && from < iterations) {
    const query = { from, to: iterations, width };
    const { cells, next, starts }: BinsPiece = store.reads.bins(id, query);
    for (const [index, start] of starts.entries()) {
      const at = index * CELL_COUNT;
      bins.push({
        start,
        mean: (field) => {
          const count = cells[at + COUNTS + COLUMN[field]] ?? 0;
          return count === 0 ? undefined : cells[at + COLUMN[field]]! / count;
        },
      });
    }
    from = next;
  }
  return bins.filter(({ start }) => start < iterations);
}

/**
 * The curve of a run. Iterations without records (a journal was thinned) count as those of the
 * bin before.
 */
function curveOf(
  bins: readonly Bin[],
  {
    iterations,
    threads,
    width,
  }: {
    readonly iterations: number;
    /** Iterations that a rank computes at a time. */
    readonly threads: number;
    readonly width: number;
  },
): RunCurve {
  const counted = bins.some(({ mean }) => mean('wireSent') !== undefined);
  const ends: number[] = [];
  const time: number[] = [];
  const bytes: number[] = [];
  let [wall, sent] = [bins[0]?.mean('wall') ?? 0, bins[0]?.mean('wireSent') ?? 0];
  const add = (end: number): void => {
    const length = end - (ends.at(-1) ?? 0);
    time.push((time.at(-1) ?? 0) + (wall * length) / threads);
    bytes.push((bytes.at(-1) ?? 0) + sent * length);
    ends.push(end);
  };
  const observed: { readonly loss: number | null; readonly metric: number | null }[] =
    [];
  for (const { mean, start } of bins) {
    if (start > (ends.at(-1) ?? 0)) {
      add(start);
      observed.push({ loss: null, metric: null });
    }
    wall = mean('wall') ?? wall;
    sent = mean('wireSent') ?? sent;
    add(Math.min(start + width, iterations));
    observed.push({ loss: mean('loss') ?? null, metric: mean('metric') ?? null });
  }
  return {
    width,
    ends,
    time,
    ...(counted ? { bytes } : {}),
    loss: observed.map(({ loss }) => loss),
    metric: observed.map(({ metric }) => metric),
  };
}

/** Means over the run: each bin counts with its iterations. */
function stepOf(
  bins: readonly Bin[],
  width: number,
  iterations: number,
): MeanStep | undefined {
  const mean = (field: Field): number | undefined => {
    let [sum, count] = [0, 0];
    for (const bin of bins) {
      const value = bin.mean(field);
      if (value === undefined) continue;
      const length = Math.min(bin.start + width, iterations) - bin.start;
      sum += value * length;
      count += length;
    }
    return count === 0 ? undefined : sum / count;
  };
  const wall = mean('wall');
  if (wall === undefined) return undefined;
  const phases: Partial<Record<Phase, number>> = {};
  for (const phase of PHASES) {
    const time = mean(phase);
    if (time !== undefined) phases[phase] = time;
  }
  return {
    wall,
    phases,
    overlapped: mean('overlapped') ?? 0,
    dense: mean('dense'),
    payload: mean('payload'),
    sent: mean('wireSent'),
  };
}

/** Values of the averaged model if replicas drift: it is what the run ends with. */
function observationOf({
  averaged,
  iteration,
  loss,
  metric,
}: EvaluationRecord): Observation {
  const own = averaged ?? { loss, metric };
  return { iterations: iteration + 1, loss: own.loss, metric: own.metric };
}
