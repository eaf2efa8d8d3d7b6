/**
 * Average time of an iteration, by method, for a small and a large gradient. Source: A2SGD,
 * section 4.4, Figure 4.
 */
import { formatDuration } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { faster, named, notSlower, timedClaim, type Part } from '../part.ts';
import { iterationTime } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { A2SGD_QSGD, A2SGD_QSGD_SETTING, A2SGD_SHARE_SETTING } from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

const SMALL = { id: 'small' };
const LARGE = { id: 'large' };
const SMALL_GRADIENT = { layers: [199_210], computeMs: 10 };
const LARGE_GRADIENT = { layers: [4_194_304], computeMs: 50 };
const EMULATED = { network: { bandwidth: '1 Gbit/s', latency: '50 µs' } };
/** The paper's smallest model and its largest. */
const FULL = { small: SMALL_GRADIENT, large: { profile: 'lstm-ptb' } };
const GRADIENTS = [SMALL, LARGE];
type Gradient = (typeof GRADIENTS)[number];
const [FEW, MANY] = [2, 8];
const WORKERS = [FEW, MANY];

const METHODS = [
  { id: 'none', name: 'dense', exchange: { method: 'none' } },
  { id: 'a2sgd', name: 'A2SGD', exchange: { method: 'a2sgd' } },
  {
    id: 'gaussiank',
    name: 'Gaussian-k',
    exchange: { method: 'gaussiank', ratio: 0.001 },
  },
  { id: 'topk', name: 'top-k', exchange: { method: 'topk', ratio: 0.001 } },
  { id: 'qsgd', name: 'QSGD', exchange: A2SGD_QSGD },
] as const;
type MethodId = (typeof METHODS)[number]['id'];
const LIGHT: readonly MethodId[] = ['a2sgd', 'gaussiank'];
/** Sockets and buffers have grown to their final size by then. */
const FROM = 2;

const idOf = (method: MethodId, { id }: Gradient, workers: number): string =>
  `${method}-${id}-p${workers}`;

const nameOf = (method: MethodId): string =>
  METHODS.find(({ id }) => id === method)!.name;

/** @param network omitted to use the machines' own network */
const casesOf = (
  synthetic: Readonly<Record<string, object>>,
  network: object,
): readonly Case[] =>
  GRADIENTS.flatMap((gradient) =>
    WORKERS.flatMap((ranks) =>
      METHODS.map(({ id, name, exchange }) => ({
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

const COMMON = [
  'All methods compress on the processor; in the paper only QSGD did. Our QSGD gathers its payloads.',
  'Top-k and Gaussian-k, at 0.1 %, are summed as sparse streams, not gathered; A2SGD’s two means are summed by the cheapest reduction.',
  'A time is the median of ten iterations of one run, not an average.',
];

export const a2sgdFigure4: Figure = {
  id: 'a2sgd-figure-4',
  paper: A2SGD,
  number: 'Figure 4',
  title: 'Time of an iteration, by method, for a small and a large gradient',
  claim: {
    text:
      'For small models A2SGD and Gaussian-K take about as long as dense SGD, and ' +
      'slightly less than QSGD and Top-K. For large models they are much faster than ' +
      'dense SGD, Top-K and QSGD. An iteration takes longest with QSGD, and takes ' +
      'longer on more workers with every method.',
    quoted: [
      {
        text: 'FNN-3 and ResNet-20: “perform comparably to dense SGD, and slightly better than QSGD and Top-K”; VGG-16 and LSTM-PTB: “much faster execution time per iteration”; the times are plotted, but the text gives no numbers',
        where: 'section 4.4, Figure 4',
      },
      {
        text: '“the execution per iteration is always the longest for QSGD”',
        where: 'section 4.4',
      },
      {
        text: 'on the other hand: “For the biggest model, Gaussian-K achieves better execution time per iteration than A2SGD”, which the paper attributes to Allgather in place of Allreduce',
        where: 'section 4.4',
      },
      {
        text: 'training LSTM-PTB takes 3.2 times as long with Top-K as with A2SGD, 23.2 times with QSGD, 1.72 times with dense SGD',
        where: 'abstract and section 1',
      },
    ],
  },
  rule:
    `Four parts, the first two with ${MANY} workers. Small gradient: A2SGD and ` +
    'Gaussian-k each take about as long as dense, or less, and less time than top-k ' +
    'and than QSGD. Large gradient: each of them takes less time than dense, top-k ' +
    'and QSGD. Third: for either gradient every other method takes less time than ' +
    `QSGD with ${MANY} workers. Fourth: for either gradient every method takes longer with ` +
    `${MANY} workers than with ${FEW}. Less and longer mean 1.12 times or more, the smallest ` +
    'speed-up that any of the five papers reports as one (SparCML, section 8.3); ' +
    'about as long means up to that.',
  settings: [
    A2SGD_QSGD_SETTING,
    A2SGD_SHARE_SETTING,
    {
      text: 'A small gradient of 199,210 elements and one of 4,194,304.',
      because:
        'Section 4.4 sets “the smaller models FNN-3 and ResNet-20” against “the bigger models VGG-16 and LSTM-PTB”. The small one is FNN-3’s; one of VGG-16’s would take minutes for each run of eight ranks.',
    },
    {
      text: 'Two and eight workers.',
      because:
        'Table 2 compares eight with two, where the synchronisation begins to cost.',
    },
  ],
  differences: [
    'Synthetic gradients in place of four models: 199,210 elements, as in FNN-3, with 10 ms of computing, and 4,194,304 elements, less than a third of VGG-16, with 50 ms. The computing times are ours: the paper’s text does not give its own.',
    'An emulated network of 1 Gbit/s and 50 µs, not InfiniBand of 100 Gbit/s: two cores cannot carry more for eight workers. Dense gradients weigh more here than in the paper.',
    'Two and eight workers on one computer, not 2 to 16 with a GPU each. They share its cores, so compressing takes longer with more workers than it would on separate machines; computing does not, because it is replaced by a sleep.',
    ...COMMON,
  ],
  timed: true,
  seeds: [1, 2, 3, 4, 5],
  cases: casesOf({ small: SMALL_GRADIENT, large: LARGE_GRADIENT }, EMULATED),
  full: {
    cases: casesOf(FULL, {}),
    differences: [
      'Synthetic gradients for two of the four models: 199,210 elements, as in FNN-3, with 10 ms of computing, and 66,034,000, as in LSTM-PTB, with the time that a GPU of 10 TFLOP/s takes. The paper’s text does not give its times.',
      'The network is the one between the machines. Two and eight workers, not 2 to 16.',
      ...COMMON,
    ],
  },
  measure: (records) => ({ values: { time: iterationTime(records, FROM) } }),
  judge: (sweep) => ({
    parts: [
      ...LIGHT.flatMap((method) => [
        timedClaim(
          `small gradient: ${nameOf(method)} does not take longer than dense`,
          notSlower(
            times(sweep, method, SMALL, MANY),
            times(sweep, 'none', SMALL, MANY),
          ),
        ),
        fasterThan(sweep, SMALL, method, ['topk', 'qsgd']),
      ]),
      ...LIGHT.map((method) =>
        fasterThan(sweep, LARGE, method, ['none', 'topk', 'qsgd']),
      ),
      ...GRADIENTS.map((gradient) => slowestIsQsgd(sweep, gradient)),
      ...GRADIENTS.map((gradient) => slowerWithMore(sweep, gradient)),
    ],
    ours: GRADIENTS.map(
      (gradient) =>
        `${gradient.id} gradient with ${MANY} workers: ` +
        METHODS.map(
          ({ id, name }) => `${name} ${timeText(sweep, id, gradient, MANY)}`,
        ).join(', '),
    ).join('; '),
  }),
  chart: (sweep) => ({
    kind: 'bars',
    caption:
      'Time of an iteration, computing included. Means over the seeds; bars span the ' +
      'lowest to the highest value.',
    x: {
      label: 'gradient and workers',
      scale: 'linear',
      categories: GRADIENTS.flatMap(({ id }) =>
        WORKERS.map((workers) => `${id}, ${workers} workers`),
      ),
    },
    y: { label: 'time of an iteration (ms)', scale: 'linear' },
    series: METHODS.map(({ id, name }) => ({
      name,
      points: GRADIENTS.flatMap((gradient, group) =>
        WORKERS.map((workers, index) =>
          pointOf(group * WORKERS.length + index, times(sweep, id, gradient, workers)),
        ),
      ),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'method',
      ...GRADIENTS.flatMap(({ id }) =>
        WORKERS.map((workers) => `${id}, ${workers} workers`),
      ),
    ],
    rows: METHODS.map(({ id, name }) => [
      name,
      ...GRADIENTS.flatMap((gradient) =>
        WORKERS.map((workers) => timeText(sweep, id, gradient, workers)),
      ),
    ]),
  }),
};

const times = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
  workers: number,
): readonly number[] => sweep.values(idOf(method, gradient, workers), 'time');

const timeText = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
  workers: number,
): string => formatDuration(sweep.mean(idOf(method, gradient, workers), 'time'));

function fasterThan(
  sweep: Sweep,
  gradient: Gradient,
  method: MethodId,
  others: readonly MethodId[],
): Part {
  const names = others.map(nameOf).join(', ');
  return timedClaim(
    `${gradient.id} gradient: ${nameOf(method)} takes less time than ${names}`,
    ...others.map((other) =>
      named(
        nameOf(other),
        faster(
          times(sweep, method, gradient, MANY),
          times(sweep, other, gradient, MANY),
        ),
      ),
    ),
  );
}

function slowestIsQsgd(sweep: Sweep, gradient: Gradient): Part {
  const qsgd = times(sweep, 'qsgd', gradient, MANY);
  const others = METHODS.filter(({ id }) => id !== 'qsgd');
  return timedClaim(
    `${gradient.id} gradient: QSGD takes longest`,
    ...others.map(({ id, name }) =>
      named(name, faster(times(sweep, id, gradient, MANY), qsgd)),
    ),
  );
}

const slowerWithMore = (sweep: Sweep, gradient: Gradient): Part =>
  timedClaim(
    `${gradient.id} gradient: every method takes longer with ${MANY} workers than with ${FEW}`,
    ...METHODS.map(({ id, name }) =>
      named(
        name,
        faster(times(sweep, id, gradient, FEW), times(sweep, id, gradient, MANY)),
      ),
    ),
  );
