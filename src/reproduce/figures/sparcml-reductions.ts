/** Shared by both halves of SparCML's Figure 3: reductions of made-up gradients, and what is said of them. */
import { formatCount } from '../../shared/words/units.ts';
import type { Case, Figure, Setting } from '../figure.ts';
import { exchangeTime } from '../run-measures.ts';

export const DOUBLING = 'ssar-recursive-doubling';
export const SPLIT = 'ssar-split-allgather';
export const DENSE_SPLIT = 'dsar-split-allgather';
export const RING = 'ring';
/** Collectives of sparse streams: the paper's own, and the ring's “sparse counterpart”. */
export const SPARSE_COLLECTIVES = [DOUBLING, SPLIT, DENSE_SPLIT, 'sparse-ring'];

/** Elements of a gradient, and the network that carries it; the machines' own if there is none. */
export interface ReductionScale {
  readonly elements: number;
  readonly network?: { readonly bandwidth: string; readonly latency: string };
}

const LAPTOP: ReductionScale = {
  elements: 1_048_576,
  network: { bandwidth: '100 Mbit/s', latency: '500 µs' },
};
/** The quoted sentences about rings, which both halves measure. */
export const RINGS = [
  {
    text: '“the experiments in Figure 3 also compare our approaches against a ring-based MPI dense allreduce and its sparse counterpart”',
    where: 'section 8.1',
  },
  {
    text: '“on a fast network and relatively small number of nodes, the ring-based algorithm is faster then any all other algorithms, but does not give any speedup at high number of nodes even at low density”',
    where: 'section 8.1',
  },
];
export const RINGS_RULE =
  'What the paper says of ring-based algorithms is not judged: it is of a fast network, or of many nodes.';

/** The paper's size. */
const PAPER: ReductionScale = { elements: 16 * 2 ** 20 };

/** The first iteration that is measured: sockets and buffers have grown to their final size by then. */
const FIRST_MEASURED = 2;

interface Reduction {
  readonly id: string;
  readonly label: string;
  readonly ranks: number;
  readonly exchange: Readonly<Record<string, unknown>>;
}

/** Twelve reductions, ten of which are measured. */
export const reductionCase = (
  { exchange, id, label, ranks }: Reduction,
  { elements, network }: ReductionScale,
): Case => ({
  id,
  label,
  spec: {
    workload: {
      model: 'synthetic-gradient',
      dataset: 'none',
      synthetic: { layers: [elements], computeMs: 20, overlap: 0 },
      batchPerRank: 1,
    },
    world: { ranks },
    exchange,
    ...(network === undefined ? {} : { network }),
    iterations: 12,
    evaluateEvery: 0,
  },
});

const REDUCTION_TIME =
  'A time is the median over ten iterations of what an iteration takes, as a mean of the ranks, beyond the longest that a rank computes and selects.';

const valuesOf = ({ elements }: ReductionScale): string =>
  `N = ${formatCount(elements)} synthetic values, of which each rank sends the largest; the ranks’ entries are independent, as if drawn at random.`;

/** A setting of both halves. */
const TEN_ITERATIONS: Setting = {
  text: '12 iterations, of which the last ten count, and five seeds.',
  because:
    'Section 8.1: “we conduct five experiments with newly generated data, while running each one for ten times”. Before, sockets and buffers grow to their final size.',
};
const PAPER_SIZE: Setting = {
  text: `N = ${formatCount(PAPER.elements)}, on the network between the machines.`,
  because: 'Figure 3: “N=16M” in both halves.',
};

/**
 * The runs of a half, at either scale, and what is measured of them.
 * @param settings those of both scales
 * @param size the setting of N and of the network on a laptop
 * @param network differences of the laptop's network from the paper's
 * @param dense differences of the dense reduction
 */
export const reductionRuns = (
  casesOf: (scale: ReductionScale) => readonly Case[],
  {
    dense,
    network,
    settings,
    size,
  }: {
    readonly dense: string;
    readonly network: string;
    readonly settings: readonly Setting[];
    readonly size: Setting;
  },
): Pick<
  Figure,
  'cases' | 'differences' | 'full' | 'measure' | 'seeds' | 'settings' | 'timed'
> => ({
  settings: [...settings, TEN_ITERATIONS, size],
  differences: [valuesOf(LAPTOP), network, REDUCTION_TIME, dense],
  timed: true,
  seeds: [1, 2, 3, 4, 5],
  cases: casesOf(LAPTOP),
  full: {
    cases: casesOf(PAPER),
    settings: [...settings, TEN_ITERATIONS, PAPER_SIZE],
    differences: [
      valuesOf(PAPER),
      'The network is the one between the machines.',
      REDUCTION_TIME,
      dense,
    ],
  },
  measure: (records) => ({ values: { time: exchangeTime(records, FIRST_MEASURED) } }),
});

/** Names of the collectives as the paper writes them in words. */
const NAMES: Readonly<Record<string, string>> = {
  'ssar-recursive-doubling': 'recursive doubling',
  'ssar-split-allgather': 'split and allgather',
  'dsar-split-allgather': 'split and allgather with a dense second phase',
  'sparse-ring': 'a sparse ring',
};

/** The collective in a sentence: `split and allgather`. */
export const shortName = (collective: string): string =>
  NAMES[collective] ?? collective;
