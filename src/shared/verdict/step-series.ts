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

/** Columns of a rank's communication with others. */
const EXCHANGE_COLUMNS = columnsOf(['activations', 'send', 'receive', 'wait']);

/** Columns of bytes that move. */
const MOVING_COLUMNS = columnsOf(['activations', 'send', 'receive']);

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

/** The parts' names, and the columns that each is the sum of. Looked up once: rows are read 13,000 times a second. */
const PART_NAMES = Object.keys(STEP_PARTS) as readonly PlainPart[];
const PART_COLUMNS = PART_NAMES.map((name) => columnsOf(STEP_PARTS[name]));

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
   * Mean wait of the other ranks for one another, if the last one took as long as one of them: no step is
   * shorter than its slowest rank.
   */
  readonly pacedLateness: readonly number[];
  /**
   * Milliseconds that its step was shorter than the mean: it began later, because its last exchange had ended
   * later. Negative if its step was longer.
   */
  readonly behind: readonly number[];
  /** Milliseconds by which its slowest rank would be faster if no rank waited for data. */
  readonly reading: readonly number[];
  /** The longest time for which a rank saw bytes move. */
  readonly moving: readonly number[];
  /** The time that each rank took itself, by rank. */
  readonly own: readonly Float64Array[];
}

/** The series of the complete iterations from ≤ i < to. O(iterations · ranks · fields). */
export function stepSeries(
  recent: RecentIterations,
  from: number,
  to: number,
): StepSeries {
  const { ranks, rows } = recent;
  const empty = (): Record<PlainPart, number[]> =>
    Object.fromEntries(
      PART_NAMES.map((name): [PlainPart, number[]] => [name, []]),
    ) as Record<PlainPart, number[]>;
  const parts = empty();
  const others = empty();
  const [iterations, step, exchange, lateness, last, behind]: number[][] = [
    ...[[], [], []],
    ...[[], [], []],
  ];
  const [paced, reading, moving]: number[][] = [[], [], []];
  const owns: Float64Array[] = [];
  const means = new Float64Array(PART_NAMES.length);
  for (let iteration = Math.max(from, recent.oldest); iteration < to; iteration++) {
    if (!recent.isComplete(iteration)) continue;
    let wall = 0;
    let communication = 0;
    let least = Infinity;
    let latest = 0;
    let [longest, longestWithoutData, longestMoving] = [0, 0, 0];
    const own = new Float64Array(ranks);
    means.fill(0);
    for (let rank = 0; rank < ranks; rank++) {
      const row = recent.placeOf(iteration, rank);
      wall += rows[row + COLUMN.wall]! / ranks;
      const waited = communicationOf(rows, row);
      communication += waited / ranks;
      if (waited < least) [least, latest] = [waited, rank];
      let mine = 0;
      for (let part = 0; part < means.length; part++) {
        const time = sumOf(rows, row, PART_COLUMNS[part]!);
        means[part]! += time / ranks;
        mine += time;
      }
      own[rank] = mine;
      const data = rows[row + COLUMN.data]! || 0;
      longest = Math.max(longest, mine);
      longestWithoutData = Math.max(longestWithoutData, mine - data);
      longestMoving = Math.max(longestMoving, sumOf(rows, row, MOVING_COLUMNS));
    }
    const lastRow = recent.placeOf(iteration, latest);
    for (let part = 0; part < means.length; part++) {
      const mean = means[part]!;
      const time = sumOf(rows, lastRow, PART_COLUMNS[part]!);
      parts[PART_NAMES[part]!].push(mean);
      others[PART_NAMES[part]!].push(
        ranks < 2 ? mean : (mean * ranks - time) / (ranks - 1),
      );
    }
    paced!.push(waitAmong(own, owns.at(-1) ?? own, latest, step!.length));
    owns.push(own);
    reading!.push(longest - longestWithoutData);
    moving!.push(longestMoving);
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
    pacedLateness: paced!,
    behind: behind!,
    reading: reading!,
    moving: moving!,
    own: owns,
  };
}

/**
 * Milliseconds by which the longest of the others' own times exceeds their mean. In place of the last rank comes
 * one more of them, in turn, from the iteration before.
 */
function waitAmong(
  own: Float64Array,
  before: Float64Array,
  last: number,
  turn: number,
): number {
  const others = own.length - 1;
  if (others < 1) return 0;
  let longest = before[(last + 1 + (turn % others)) % own.length]!;
  let sum = 0;
  for (let rank = 0; rank < own.length; rank++) {
    if (rank === last) continue;
    const time = own[rank]!;
    sum += time;
    if (time > longest) longest = time;
  }
  return longest - sum / others;
}

function columnsOf(phases: readonly Phase[]): readonly number[] {
  return phases.map((phase) => COLUMN[phase]);
}

/** Communication with other ranks in the row that begins at `row`. */
export const communicationOf = (rows: Float64Array, row: number): number =>
  sumOf(rows, row, EXCHANGE_COLUMNS);

/** The sum of columns of the row that begins at `row`. */
function sumOf(rows: Float64Array, row: number, columns: readonly number[]): number {
  let sum = 0;
  // A phase that was not observed is not a number.
  for (let i = 0; i < columns.length; i++) sum += rows[row + columns[i]!]! || 0;
  return sum;
}

/** The sum of one of the series. */
export function sumOfSeries(values: readonly number[]): number {
  let total = 0;
  // `reduce` would allocate each number in between: the page asks for these sums once a second.
  for (const value of values) total += value;
  return total;
}
