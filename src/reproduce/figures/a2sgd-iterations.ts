/** Shared by A2SGD's Figures 4 and 5: iterations with a small and a large gradient, by method and workers. */
import type { Case, Figure, Setting } from '../figure.ts';
import { meanIterationTime } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import {
  A2SGD_METHODS,
  A2SGD_QSGD_SETTING,
  A2SGD_SHARE_SETTING,
  type MethodId,
} from './a2sgd-peers.ts';

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
  'Synthetic gradients in place of four models: 199,210 elements, as in FNN-3, and 4,194,304, less than a third of VGG-16. Computing is a pause.',
  'An emulated network of 1 Gbit/s, not InfiniBand of 100 Gbit/s. Dense gradients weigh more here than in the paper.',
  'Two and eight workers on one computer, not 2 to 16 with a GPU each. They share its cores, so compressing takes longer with more workers than it would on separate machines; computing does not, because it is replaced by a sleep.',
  ...ITERATION_NOTES,
];
export const PAPER_ITERATION_NOTES = [
  'Synthetic gradients for two of the four models: 199,210 elements, as in FNN-3, and 66,034,000, as in LSTM-PTB. Computing is a pause.',
  'The network is the one between the machines. Two and eight workers, not 2 to 16.',
  ...ITERATION_NOTES,
];

/** Settings of both figures at either scale. */
const BOTH_SCALES: readonly Setting[] = [
  A2SGD_QSGD_SETTING,
  A2SGD_SHARE_SETTING,
  {
    text: 'Two and eight workers.',
    because:
      'Table 2 compares eight with two, where the synchronisation begins to cost.',
  },
  {
    text: '12 iterations, of which the last ten count.',
    because:
      'Ours: section 4.4 has averages over trainings. Sockets and buffers have grown to their final size by the third.',
  },
];
const BIG_AND_SMALL =
  'Section 4.4 sets “the smaller models FNN-3 and ResNet-20” against “the bigger models VGG-16 and LSTM-PTB”';

export const LAPTOP_ITERATION_SETTINGS: readonly Setting[] = [
  ...BOTH_SCALES,
  {
    text: 'A small gradient of 199,210 elements and one of 4,194,304, after pauses of 10 and 50 ms in place of computing.',
    because: `${BIG_AND_SMALL}. The small one is FNN-3’s; one of VGG-16’s would take minutes for each run of eight ranks. The pauses are ours, as the text does not give its times.`,
  },
  {
    text: 'An emulated network of 1 Gbit/s and 50 µs.',
    because:
      'Ours: two processors cannot carry more for eight workers. Section 4.1: “a high-bandwidth 100-Gbps InfiniBand network”.',
  },
];
export const PAPER_ITERATION_SETTINGS: readonly Setting[] = [
  ...BOTH_SCALES,
  {
    text: 'A small gradient of 199,210 elements and one of 66,034,000, after pauses of 10 ms and of the time that a GPU of 10 TFLOP/s takes.',
    because: `${BIG_AND_SMALL}; Table 1 has these parameters for FNN-3 and LSTM-PTB, the smallest and the largest. The pauses are ours, as the text does not give its times.`,
  },
];

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
