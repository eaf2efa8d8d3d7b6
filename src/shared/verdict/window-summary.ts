/**
 * Summarises a range of recent iterations, as the evidence for the verdict, the tiles
 * and the switch panel. Everything is a mean over the range and over all ranks;
 * quantities that no rank observed are undefined. O(iterations · ranks · fields).
 */
import { COMMUNICATION_PHASES, PHASES, type Phase } from '../records/phases.ts';
import type { SwitchRecord } from '../records/switch.ts';
import type { RankTraffic } from './bytes-in-flight.ts';
import type { RecentIterations } from './recent-iterations.ts';
import { stepSeries, type StepSeries } from './step-series.ts';
import { COLUMN, FIELD_COUNT, type Field } from '../records/chart-fields.ts';

/** Columns of the phases in which bytes move. */
const MOVING_COLUMNS = (['send', 'receive', 'activations'] as const).map(
  (phase) => COLUMN[phase],
);

export interface WindowSummary {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly iterations: number;
  readonly wall: number;
  readonly phases: Readonly<Record<Phase, number>>;
  /** The communication phases' part of the wall time, 0…1. */
  readonly communicationShare: number;
  readonly overlapped: number;
  readonly dense: number;
  /** Bytes sent at the sockets; undefined if the program communicates by itself. */
  readonly wireSent: number | undefined;
  readonly density: number | undefined;
  /** Non-zeros of the reduced result per local non-zero. */
  readonly fillIn: number | undefined;
  readonly loss: number | undefined;
  readonly metric: number | undefined;
  readonly residualNorm: number | undefined;
  /** Iterations per second by the clock, from the records' times. */
  readonly rate: number | undefined;
  /** Milliseconds per iteration that others wait for each rank, on average. */
  readonly awaited: readonly number[];
  /** Mean wall time and wait of each rank itself, in milliseconds. */
  readonly perRank: readonly { readonly wall: number; readonly wait: number }[];
  /** Bytes and times of each rank that reported them. */
  readonly traffic: readonly RankTraffic[];
  /** The parts of the step, iteration by iteration. */
  readonly series: StepSeries;
  /** Records that it is made of: one for each rank and iteration. */
  readonly records: number;
}

/** Fewest iterations for a verdict, and for naming a straggler. */
export const VERDICT_MINIMUM = 5;

/** Iterations that the verdict looks back on. */
const LOOK_BACK = 200;

/** First iterations of a run, which compile and fill caches: left out once there are enough others. */
const SETTLING = 5;
const ENOUGH = 15;

/**
 * The first of the last iterations under the current plan; the exchange at its fence is left out.
 * @param to iterations that all ranks have finished
 */
export function windowStart(switches: readonly SwitchRecord[], to: number): number {
  const fence = switches.findLast((record) => record.fence < to)?.fence ?? -1;
  const settled = to >= SETTLING + ENOUGH ? SETTLING : 0;
  return Math.max(fence + 1, settled, to - LOOK_BACK);
}

/** Summarises the iterations from ≤ i < to; undefined if none was observed. */
export function summarizeWindow(
  recent: RecentIterations,
  from: number,
  to: number,
): WindowSummary | undefined {
  const { ranks, rows } = recent;
  const sums = new Float64Array(FIELD_COUNT);
  const counts = new Uint32Array(FIELD_COUNT);
  const awaited = new Float64Array(ranks);
  const wall = new Float64Array(ranks);
  const wait = new Float64Array(ranks);
  const moving = new Float64Array(ranks);
  const sent = new Float64Array(ranks);
  const received = new Float64Array(ranks);
  const observed = new Uint32Array(ranks);
  let iterations = 0;
  let first = -1;
  let last = -1;
  for (let i = Math.max(from, recent.oldest); i < to; i++) {
    let here = false;
    for (let rank = 0; rank < ranks; rank++) {
      const row = recent.placeOf(i, rank);
      if (row < 0) continue;
      here = true;
      observed[rank]! += 1;
      wall[rank]! += rows[row + COLUMN.wall]!;
      wait[rank]! += rows[row + COLUMN.wait]!;
      for (const column of MOVING_COLUMNS) moving[rank]! += rows[row + column]! || 0;
      sent[rank]! += rows[row + COLUMN.wireSent]!;
      received[rank]! += rows[row + COLUMN.wireReceived]!;
      awaited[rank]! += recent.awaited(i, rank);
      for (let column = 0; column < FIELD_COUNT; column++) {
        const value = rows[row + column]!;
        if (Number.isNaN(value)) continue;
        sums[column]! += value;
        counts[column]! += 1;
      }
    }
    if (!here) continue;
    iterations += 1;
    if (first < 0) first = i;
    last = i;
  }
  if (iterations === 0) return undefined;
  const mean = (field: Field): number | undefined => {
    const column = COLUMN[field];
    return counts[column] === 0 ? undefined : sums[column]! / counts[column]!;
  };
  const phases = Object.fromEntries(
    PHASES.map((phase) => [phase, mean(phase) ?? 0]),
  ) as Record<Phase, number>;
  const meanWall = mean('wall') ?? 0;
  const communication = COMMUNICATION_PHASES.reduce(
    (sum, phase) => sum + phases[phase],
    0,
  );
  const local = mean('nnzLocal');
  const reduced = mean('nnzReduced');
  const elapsed = recent.mean(last, 'at') - recent.mean(first, 'at');
  const perOther = Array.from(awaited, (sum, rank) =>
    observed[rank] === 0 || ranks < 2 ? 0 : sum / observed[rank]! / (ranks - 1),
  );
  return {
    from: first,
    to: last + 1,
    iterations,
    wall: meanWall,
    phases,
    communicationShare: meanWall > 0 ? communication / meanWall : 0,
    overlapped: mean('overlapped') ?? 0,
    dense: mean('dense') ?? 0,
    wireSent: mean('wireSent'),
    density: mean('density'),
    fillIn:
      local === undefined || reduced === undefined || local === 0
        ? undefined
        : reduced / local,
    loss: mean('loss'),
    metric: mean('metric'),
    residualNorm: mean('residualNorm'),
    rate: elapsed > 0 ? ((last - first) * 1000) / elapsed : undefined,
    awaited: perOther,
    perRank: Array.from(wall, (sum, rank) => ({
      wall: observed[rank] === 0 ? NaN : sum / observed[rank]!,
      wait: observed[rank] === 0 ? NaN : wait[rank]! / observed[rank]!,
    })),
    traffic: Array.from(observed, (count, rank) => ({
      rank,
      moving: moving[rank]! / count,
      exposed: (moving[rank]! + wait[rank]!) / count,
      bytesSent: sent[rank]! / count,
      bytesReceived: received[rank]! / count,
    })).filter(
      ({ bytesSent, rank }) => observed[rank]! > 0 && !Number.isNaN(bytesSent),
    ),
    series: stepSeries(recent, from, to),
    records: observed.reduce((sum, count) => sum + count, 0),
  };
}

/**
 * The rank that the others await longest: at least half again as long as the mean of the others, and for at
 * least 2 % of the step. Otherwise naming one would be noise. It is no straggler if its link is slow, or if it
 * waits itself for a message that it passes on.
 */
export function longestAwaited(
  awaited: readonly number[],
  wall: number,
): number | undefined {
  if (awaited.length < 2 || wall <= 0) return undefined;
  const total = awaited.reduce((sum, value) => sum + value, 0);
  const longest = Math.max(...awaited);
  const others = (total - longest) / (awaited.length - 1);
  if (longest < 0.02 * wall || longest < 1.5 * others) return undefined;
  return awaited.indexOf(longest);
}
