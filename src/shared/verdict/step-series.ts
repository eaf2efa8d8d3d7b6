/**
 * The parts of a step, iteration by iteration, which the account of the step is made of. Each is
 * a mean over ranks, in milliseconds, of an iteration that all ranks have reported.
 *
 * Communication is split by who waits. The rank that communicates for the shortest time arrived
 * last and waited for nobody: its time is the exchange itself, as in the engine's own
 * observations (`exchange-observation.ts`). What the others communicate beyond it is lateness:
 * waiting for that rank.
 *
 *   rank 0  compute ──────▐exchange▌
 *   rank 1  compute ─▐lateness▐exchange▌
 */
import { COMPUTE_PHASES, type Phase } from '../records/phases.ts';
import { COLUMN } from '../records/chart-fields.ts';
import type { RecentIterations } from './recent-iterations.ts';

/** Phases of a rank's communication with others. */
const EXCHANGE_PHASES: readonly Phase[] = ['activations', 'send', 'receive', 'wait'];

/** Names of the parts; they add up to the step. */
const STEP_PARTS = {
  data: ['data'],
  compute: COMPUTE_PHASES,
  bubble: ['bubble'],
  compression: ['compress', 'decompress'],
  reduction: ['reduce'],
  apply: ['apply'],
  other: ['other'],
} as const satisfies Readonly<Record<string, readonly Phase[]>>;

type PlainPart = keyof typeof STEP_PARTS;

export interface StepSeries {
  /** Iterations in the series, in order. */
  readonly iterations: readonly number[];
  /** Wall time of each. */
  readonly step: readonly number[];
  readonly parts: Readonly<Record<PlainPart, readonly number[]>>;
  /** The same without the rank that arrived last; with one rank, its own. */
  readonly others: Readonly<Record<PlainPart, readonly number[]>>;
  /** Time of the exchange itself: that of the rank that waited least. */
  readonly exchange: readonly number[];
  /** Mean wait of the ranks for the one that arrived last. */
  readonly lateness: readonly number[];
  /** The rank that arrived last in each iteration. */
  readonly last: readonly number[];
  /**
   * Milliseconds that its step was shorter than the mean: it began later, because its last exchange had ended
   * later. Negative if its step was longer.
   */
  readonly behind: readonly number[];
}

/** The series of the complete iterations from ≤ i < to. O(iterations · ranks · fields). */
export function stepSeries(
  recent: RecentIterations,
  from: number,
  to: number,
): StepSeries {
  const { ranks, rows } = recent;
  const names = Object.keys(STEP_PARTS) as readonly PlainPart[];
  const empty = (): Record<PlainPart, number[]> =>
    Object.fromEntries(
      names.map((name): [PlainPart, number[]] => [name, []]),
    ) as Record<PlainPart, number[]>;
  const parts = empty();
  const others = empty();
  const [iterations, step, exchange, lateness, last, behind]: number[][] = [
    ...[[], [], []],
    ...[[], [], []],
  ];
  for (let iteration = Math.max(from, recent.oldest); iteration < to; iteration++) {
    if (!recent.isComplete(iteration)) continue;
    let wall = 0;
    let communication = 0;
    let least = Infinity;
    let latest = 0;
    for (const name of names) parts[name].push(0);
    for (let rank = 0; rank < ranks; rank++) {
      const row = recent.placeOf(iteration, rank);
      wall += rows[row + COLUMN.wall]! / ranks;
      const own = sumOf(rows, row, EXCHANGE_PHASES);
      communication += own / ranks;
      if (own < least) [least, latest] = [own, rank];
      for (const name of names) {
        const list = parts[name];
        list[list.length - 1]! += sumOf(rows, row, STEP_PARTS[name]) / ranks;
      }
    }
    const lastRow = recent.placeOf(iteration, latest);
    for (const name of names) {
      const mean = parts[name].at(-1)!;
      const own = sumOf(rows, lastRow, STEP_PARTS[name]);
      others[name].push(ranks < 2 ? mean : (mean * ranks - own) / (ranks - 1));
    }
    iterations!.push(iteration);
    step!.push(wall);
    exchange!.push(least);
    lateness!.push(communication - least);
    last!.push(latest);
    behind!.push(wall - rows[lastRow + COLUMN.wall]!);
  }
  return {
    iterations: iterations!,
    step: step!,
    parts,
    others,
    exchange: exchange!,
    lateness: lateness!,
    last: last!,
    behind: behind!,
  };
}

/** The sum of phases in the row that begins at `row`. */
function sumOf(rows: Float64Array, row: number, phases: readonly Phase[]): number {
  let sum = 0;
  // A phase that was not observed is not a number.
  for (const phase of phases) sum += rows[row + COLUMN[phase]]! || 0;
  return sum;
}

/** The sum of one of the series. */
export const sumOfSeries = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
