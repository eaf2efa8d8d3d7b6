/** Shared by A2SGD's Figures 4 and 5: iterations with a small and a large gradient, by method and workers. */
import type { Case, Figure, Setting } from '../figure.ts';
import { meanIterationTime } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { A2SGD_METHODS, type MethodId } from './a2sgd-peers.ts';

export const SMALL = { id: 'small' };
export const LARGE = { id: 'large' };
const SMALL_GRADIENT = { layers: [199_210], computeMs: 10 };
const LARGE_GRADIENT = { layers: [4_194_304], computeMs: 50 };
const EMULATED = { network: { bandwidth: '1 Gbit/s', latency: '50 µs' } };
/** The paper's smallest model and its largest. */
const FULL = { small: SMALL_GRADIENT, large: { profile: 'lstm-ptb' } };
export const GRADIENTS = [SMALL, LARGE];
export type Gradient = (typeof GRADIENTS)[number];
export const [FEW, MANY] = [2, 8];
export const WORKERS = [FEW, MANY];

export const LIGHT: readonly MethodId[] = ['a2sgd', 'gaussiank'];
/** Sockets and buffers have grown to their final size by then. */
const FROM = 2;

const idOf = (method: MethodId, { id }: Gradient, workers: number): string =>
  `${method}-${id}-p${workers}`;

/** @param network omitted to use the machines' own network */
const casesOf = (
  synthetic: Readonly<Record<string, object>>,
  network: object,
): readonly Case[] =>
  GRADIENTS.flatMap((gradient) =>
    WORKERS.flatMap((ranks) =>
      A2SGD_METHODS.map(({ id, name, exchange }) => ({
        id: idOf(id, gradient, ranks),
        label: `${name}, ${gradient.id} gradient, ${ranks} workers`,
        spec: {
          workload: {
            model: 'synthetic-gradient',
            dataset: 'none',
            synthetic: { ...synthetic[gradient.id], overlap: 0 },
            batchPerRank: 128,
          },
          world: { ranks },
          exchange,
          ...network,
          iterations: 12,
          evaluateEvery: 0,
        },
      })),
    ),
  );

const ITERATION_NOTES = [
  'All methods compress on the processor; in the paper only QSGD did. Our QSGD gathers its payloads.',
  'Top-k and Gaussian-k, at 0.1 %, are summed as sparse streams, not gathered; A2SGD’s two means are summed by the cheapest reduction.',
  'A time is the median of ten iterations of one run, not an average.',
];

export const A2SGD_LAPTOP_CASES = casesOf(
  { small: SMALL_GRADIENT, large: LARGE_GRADIENT },
  EMULATED,
);
export const A2SGD_PAPER_CASES = casesOf(FULL, {});

export const LAPTOP_ITERATION_NOTES = [
  'Synthetic gradients in place of four models: 199,210 elements, as in FNN-3, with 10 ms of computing, and 4,194,304 elements, less than a third of VGG-16, with 50 ms. The computing times are ours: the paper’s text does not give its own.',
  'An emulated network of 1 Gbit/s and 50 µs, not InfiniBand of 100 Gbit/s: two cores cannot carry more for eight workers. Dense gradients weigh more here than in the paper.',
  'Two and eight workers on one computer, not 2 to 16 with a GPU each. They share its cores, so compressing takes longer with more workers than it would on separate machines; computing does not, because it is replaced by a sleep.',
  ...ITERATION_NOTES,
];
export const PAPER_ITERATION_NOTES = [
  'Synthetic gradients for two of the four models: 199,210 elements, as in FNN-3, with 10 ms of computing, and 66,034,000, as in LSTM-PTB, with the time that a GPU of 10 TFLOP/s takes. The paper’s text does not give its times.',
  'The network is the one between the machines. Two and eight workers, not 2 to 16.',
  ...ITERATION_NOTES,
];

export const SIZES_SETTING: Setting = {
  text: 'A small gradient of 199,210 elements and one of 4,194,304.',
  because:
    'Section 4.4 sets “the smaller models FNN-3 and ResNet-20” against “the bigger models VGG-16 and LSTM-PTB”. The small one is FNN-3’s; one of VGG-16’s would take minutes for each run of eight ranks.',
};
export const WORKERS_SETTING: Setting = {
  text: 'Two and eight workers.',
  because: 'Table 2 compares eight with two, where the synchronisation begins to cost.',
};

export const measureIteration: Figure['measure'] = (records) => ({
  values: { time: meanIterationTime(records, FROM) },
});

/** Milliseconds of an iteration, by seed. */
export const times = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
  workers: number,
): readonly number[] => sweep.values(idOf(method, gradient, workers), 'time');
