/**
 * The exports that are called by slices, as calls that threads share: with the arguments
 * for the whole vector, and the same result. The kinds of the arguments determine their
 * values for a slice and a thread. Everything is looked up once; a call allocates
 * nothing.
 */
import { SCALE_BLOCK } from '../microscaling.ts';
import { entriesPerRun } from '../sparsification.ts';
import { SLICE } from './job-board.ts';
import {
  EXPORTS,
  TASKS,
  type Cut,
  type Gives,
  type KernelExports,
  type Kind,
  type SlicedCalls,
  type Task,
} from './kernel-exports.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { THREAD_BYTES } from './thread-scratch.ts';

/** Codes of a tile fill whole words, whatever their width. */
const TILE = 32;
const SAMPLE_SLICE = 4096;
/** Bytes of a slice's tally, whose content `assembly/sliced-selection.ts` defines. */
export const TALLY_BYTES = 16;
/** Two sums and a count, or a sum and two parts of another, in 64 bits each. */
const SUMS_BYTES = 24;

/** The call's first argument of a kind; undefined if it has none. */
type Given = (kind: Kind) => number | undefined;

type AnyKernel = (...values: readonly number[]) => number | undefined;

export function sharedCalls(
  exports: KernelExports,
  threads: KernelThreads,
): SlicedCalls {
  const calls = TASKS.map((task) => [task, sharedCall(task, exports, threads)]);
  return Object.fromEntries(calls) as SlicedCalls;
}

function sharedCall(
  task: Task,
  exports: KernelExports,
  threads: KernelThreads,
): AnyKernel {
  const { gives, cut } = EXPORTS[task];
  const kinds: readonly Kind[] = EXPORTS[task].kinds;
  const alone = exports[task] as unknown as AnyKernel;
  const { board } = threads;
  const values = board.constants;
  const [nAt, outAt, xAt] = (['n', 'out', 'x'] as const).map((at) => kinds.indexOf(at));
  const given: Given = (kind) => values[kinds.indexOf(kind)];

  return (...call) => {
    for (let place = 0; place < call.length; place++) values[place] = call[place]!;
    const length = values[nAt!]!;
    const slice = CUTS[cut](length, given);
    if (slice === 0) return alone(...call);
    // If vectors overlap, their slices are not independent.
    if (outAt! >= 0 && xAt! >= 0 && overlaps(values[outAt!]!, values[xAt!]!, length)) {
      return alone(...call);
    }
    board.begin(task, length, slice);
    for (let place = 0; place < kinds.length; place++) {
      const kind = kinds[place]!;
      board.move(
        place,
        PER_SLICE[kind]?.(slice, given) ?? 0,
        Number(kind === 'n'),
        PER_THREAD[kind]?.(given) ?? 0,
      );
    }
    values[nAt!] = 0;
    return COMBINED[gives](board.results, threads.run(), slice, length);
  };
}

/** Whether two vectors of equal length overlap without starting at the same address. */
const overlaps = (a: number, b: number, length: number): boolean =>
  a !== b && Math.abs(a - b) < 4 * length;

/** Elements of a slice; 0 if one thread does everything. */
const CUTS: Record<Cut, (length: number, given: Given) => number> = {
  elements: () => SLICE,
  runs: (length, given) => wholeRuns(given('run')!, length),
  // A single run has its scale already, and can be cut anywhere.
  'tiled runs': (length, given) =>
    given('runLength')! >= length ? SLICE : wholeTiles(given('runLength')!, length),
  'scaled runs': (length, given) => wholeTiles(given('runLength')!, length),
  sample: () => SAMPLE_SLICE,
  tallies: () => 1,
};

function wholeRuns(run: number, length: number): number {
  const slice = run * Math.ceil(SLICE / run);
  return 2 * slice > length ? 0 : slice;
}

/** Whole runs whose codes begin and end at whole words. */
function wholeTiles(runLength: number, length: number): number {
  const common = Math.min(runLength & -runLength, TILE);
  return wholeRuns(runLength * (TILE / common), length);
}

/** An argument's increment per slice; default: 0. */
const PER_SLICE: Partial<Record<Kind, (slice: number, given: Given) => number>> = {
  x: (slice) => 4 * slice,
  out: (slice) => 4 * slice,
  halves: (slice) => 2 * slice,
  octets: (slice) => slice,
  blockScales: (slice) => slice / SCALE_BLOCK,
  strided: (slice, given) => 4 * slice * given('stride')!,
  first: (slice) => slice,
  scales: (slice, given) => 4 * bucketsOf(slice, given),
  means: (slice, given) => 8 * bucketsOf(slice, given),
  codes: (slice, given) => (slice / 8) * given('bits')!,
  signs: (slice) => slice / 8,
  indices: (slice, given) => 4 * entriesOf(slice, given),
  values: (slice, given) => 4 * entriesOf(slice, given),
  tally: () => TALLY_BYTES,
  sums: () => SUMS_BYTES,
};

/** An argument's increment per thread; default: 0. */
const PER_THREAD: Partial<Record<Kind, (given: Given) => number>> = {
  bins: () => THREAD_BYTES,
  tiles: () => THREAD_BYTES,
  cursor: () => THREAD_BYTES,
  room: (given) => 8 * given('capacity')!,
};

/** Runs of a slice; 0 if all slices belong to one. */
const bucketsOf = (slice: number, given: Given): number =>
  given('runLength')! >= given('n')! ? 0 : slice / given('runLength')!;

/** Entries that are selected from a slice's runs; 0 if there are none. */
function entriesOf(slice: number, given: Given): number {
  const run = given('run');
  return run === undefined ? 0 : entriesPerRun(slice, run, given('k')!, 0);
}

const COMBINED: Record<
  Gives,
  (results: Float64Array, slices: number, slice: number, length: number) => number
> = {
  nothing: () => 0,
  /** Adds up results in order, as one thread adds up its blocks. */
  sum: (results, slices) => {
    let sum = 0;
    for (let i = 0; i < slices; i++) sum += results[i]!;
    return sum;
  },
  largest: (results, slices) => {
    let largest = 0;
    for (let i = 0; i < slices; i++) largest = Math.max(largest, results[i]!);
    return largest;
  },
  /** Each slice returns the position of its first hit, or its length if it has none. */
  first: (results, slices, slice, length) => {
    for (let i = 0; i < slices; i++) {
      const index = i * slice + results[i]!;
      if (index < Math.min((i + 1) * slice, length)) return index;
    }
    return length;
  },
};
