/**
 * The exports of the WebAssembly module (assembly/index.ts): the kinds of each function's
 * arguments, in order, and its result. Calls are typed by this table: an argument of another kind
 * or in another position, or one too many or too few, does not compile. From the same lines
 * `shared-calls.ts` makes the calls that several threads share.
 *
 * A kernel's method names the kinds of its vectors and regions in the types of its
 * parameters; the numbers in them keep their kinds from there on.
 */

/** Kinds of arguments. `shared-calls.ts` says how each changes from slice to slice. */
export type Kind = Address | Count | 'fixed';

type Address =
  /** Elements of a vector, read or written. */
  | 'x'
  | 'out'
  /** Elements, every `stride`-th of which is read. */
  | 'strided'
  /** A sparse stream, or a list of indices, that is read. */
  | 'stream'
  /** Memory to which entries are written: their indices and their values, or both. */
  | 'indices'
  | 'values'
  | 'entries'
  /** Parts of quantised vectors. */
  | 'scales'
  | 'means'
  | 'codes'
  | 'signs'
  | 'bytes'
  /** Values of 16 bits, read or written. */
  | 'halves'
  /** Values of 8 bits, and the scales of 32 of them, likewise. */
  | 'octets'
  | 'blockScales'
  | 'matrix'
  /** A slice's result for the next step. */
  | 'tally'
  | 'sums'
  /** The thread's own memory. */
  | 'bins'
  | 'tiles'
  | 'cursor'
  | 'room'
  /** The caller's memory. */
  | 'scratch';

type Count =
  /** Elements of the vector that is cut into slices. */
  | 'n'
  /** Entries of a stream. */
  | 'count'
  /** The index of the first element. */
  | 'first'
  | 'bits'
  | 'runLength'
  | 'run'
  | 'k'
  | 'stride'
  | 'capacity';

declare const KIND: unique symbol;

/** A number of one kind, which no other number can replace. */
export type Of<K extends Kind> = number & { readonly [KIND]: K };

/** A factor, a threshold or a flag: the same for all slices, without a specific kind. */
type Fixed = number & { readonly [KIND]?: never };

export interface At<K extends Kind> {
  readonly offset: Of<K>;
}

export interface Elements<K extends Kind> extends At<K> {
  readonly length: Of<'n'>;
}

export interface Stream extends At<'stream'> {
  readonly count: Of<'count'>;
}

/** The way in which results of slices combine into the export's result for the whole vector. */
export type Gives = 'nothing' | 'sum' | 'largest' | 'first';

/** The places at which a vector may be cut into slices. */
export type Cut =
  'elements' | 'runs' | 'scaled runs' | 'tiled runs' | 'sample' | 'tallies';

/** The kinds that a string names; `never` if a word is not a kind. */
type KindsOf<S extends string> = S extends ''
  ? []
  : S extends Kind
    ? [S]
    : S extends `${infer K extends Kind} ${infer Rest}`
      ? [K, ...KindsOf<Rest>]
      : never;

type Known<S extends string> = [KindsOf<S>] extends [never] ? never : S;

/** An export that several threads can share, slice by slice. */
function sliced<S extends string, G extends Gives = 'nothing'>(
  kinds: Known<S>,
  gives = 'nothing' as G,
  cut: Cut = 'elements',
): { readonly kinds: KindsOf<S>; readonly gives: G; readonly cut: Cut } {
  return { ...whole(kinds, gives), cut };
}

/** An export that is called once for the whole vector. */
function whole<S extends string, G extends Gives | 'number' = 'nothing'>(
  kinds: Known<S>,
  gives = 'nothing' as G,
): { readonly kinds: KindsOf<S>; readonly gives: G } {
  const words = kinds === '' ? [] : kinds.split(' ');
  return { kinds: words as KindsOf<S>, gives };
}

export const EXPORTS = {
  // elementwise
  fill: sliced('out n fixed'),
  copy: sliced('out x n'),
  add: sliced('out x n'),
  addFinite: sliced('out x n', 'first'),
  scale: sliced('out n fixed'),
  blend: sliced('out fixed x fixed n'),
  shiftBySign: sliced('out n fixed fixed'),
  transpose: sliced('out n matrix fixed fixed first fixed'),
  combine: sliced('fixed out x n'),
  combine64: whole('fixed out x n'),

  // reductions
  squaredNorm: sliced('x n', 'sum'),
  squaredDistance: sliced('x x n', 'sum'),
  centralSum: sliced('x n fixed fixed', 'sum'),
  copyFinite: sliced('out x n', 'first'),
  firstNonFinite: sliced('x n', 'first'),
  maximum: sliced('x n', 'largest'),
  twoMeans: whole('x n'),
  plusMean: whole('', 'number'),
  minusMean: whole('', 'number'),
  storeSignSums: sliced('x n sums'),
  storeFixedSums: sliced('x n fixed sums', 'sum'),

  // quantisation
  quantize: sliced(
    'x n fixed bits runLength fixed scales codes tiles first fixed fixed fixed fixed fixed',
    'nothing',
    'tiled runs',
  ),
  dequantize: sliced(
    'out n fixed bits runLength scales codes fixed tiles',
    'nothing',
    'tiled runs',
  ),
  largestLevel: sliced('codes n bits tiles', 'largest'),
  quantizeSigns: sliced('out n runLength means signs', 'nothing', 'scaled runs'),
  dequantizeSigns: sliced('out n runLength means signs fixed', 'nothing', 'tiled runs'),
  eliasEncode: whole('codes n bits fixed bytes scratch', 'number'),
  eliasDecode: whole('bytes fixed n fixed bits codes scratch', 'number'),

  // 16-bit values
  narrow: sliced('x n fixed halves fixed'),
  narrowRandomly: sliced(
    'x n fixed halves fixed tiles first fixed fixed fixed fixed fixed',
  ),
  widen: sliced('halves n out fixed'),
  addHalves: sliced('halves halves n fixed'),
  firstSpecial: sliced('halves n fixed', 'first'),

  // 8-bit values
  encodeBlocks: sliced('x n fixed blockScales octets'),
  encodeBlocksRandomly: sliced(
    'x n fixed blockScales octets tiles first fixed fixed fixed fixed fixed',
  ),
  decodeBlocks: sliced('out n fixed blockScales octets'),
  firstAbove: sliced('octets n fixed', 'first'),

  // selection
  selectAll: whole('x n entries'),
  selectByRadix: whole('x n k entries bins'),
  selectBySample: whole('x n k entries scratch fixed fixed capacity', 'number'),
  selectTopKPerRun: sliced(
    'x n run k fixed first indices values bins',
    'nothing',
    'runs',
  ),
  kthMagnitude: whole('x n k bins', 'number'),
  kthLargest: whole('x n k bins', 'number'),
  missingTies: whole('', 'number'),
  appendAtLeast: whole('x n fixed first fixed indices values', 'number'),
  compact: whole('x n fixed fixed k first indices values', 'number'),
  countTop: sliced('x n bins'),
  countBelow: sliced('x n fixed fixed bins'),
  foldTop: whole('bins'),
  addBins: whole('bins bins fixed'),
  descend: whole('bins fixed fixed', 'number'),
  sampleStride: whole('n n', 'number'),
  takeSample: sliced('strided n stride out', 'nothing', 'sample'),
  countAtLeast: sliced('x n fixed tally'),
  compactSlice: sliced('x n fixed first tally indices values'),
  collectSlice: sliced('x n fixed first tally cursor scratch capacity room room'),
  placeSlices: sliced('tally n indices values', 'nothing', 'tallies'),
  nameCandidates: whole('indices k stream'),

  // entries
  clearAt: whole('out n stream count', 'number'),
  scatterAdd: whole('out n stream count fixed', 'number'),
  gatherAt: whole('x n stream count out', 'number'),
  sampleIndices: whole(
    'fixed fixed scratch scratch indices fixed fixed fixed fixed fixed',
  ),
  scatter: whole('fixed out stream count'),
  scatter64: whole('fixed out stream count'),
  merge: whole('fixed stream count stream count entries', 'number'),
  merge64: whole('fixed stream count stream count entries', 'number'),
  firstDisordered: whole('stream count fixed fixed', 'number'),

  // optimisers
  stepPlain: sliced('out x n fixed fixed fixed'),
  stepMomentum: sliced('out out x n fixed fixed fixed fixed fixed'),
  stepAdagrad: sliced('out out x n fixed fixed fixed fixed'),
  stepAdam: sliced(
    'out out out x n fixed fixed fixed fixed fixed fixed fixed fixed fixed fixed fixed',
  ),

  // low rank
  timesFactor: whole('matrix fixed fixed x out fixed'),
  transposedTimesFactor: whole('matrix fixed fixed x out fixed'),
  addProduct: whole('matrix fixed fixed x x fixed fixed'),
} as const;

type Table = typeof EXPORTS;

type Values<K extends readonly Kind[]> = {
  [I in keyof K]: K[I] extends 'fixed' ? Fixed : Of<K[I]>;
};

/**
 * The exports, or functions that are called like them. Counts are i32: they stay below
 * 2³¹.
 */
export type KernelExports = {
  readonly [E in keyof Table]: Table[E]['gives'] extends 'nothing'
    ? (...values: Values<Table[E]['kinds']>) => void
    : (...values: Values<Table[E]['kinds']>) => number;
};

/** The exports that are called by slices. */
export type Task = {
  [E in keyof Table]: Table[E] extends { readonly cut: Cut } ? E : never;
}[keyof Table];

export type SlicedCalls = Pick<KernelExports, Task>;

/** A job identifies a task by its position. */
export const TASKS = Object.keys(EXPORTS).filter(
  (name): name is Task => 'cut' in EXPORTS[name as keyof Table],
);

/** An instance of the module on the arena's memory: each thread has one. */
export function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): KernelExports {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports as unknown as KernelExports;
}
