/**
 * Shares of computing and communicating in an iteration's time, with gradients in 32 and in 4
 * bits, by the number of GPUs. Source: QSGD, its experiments, "Communication vs.
 * Computation".
 */
import { COMMUNICATION_PHASES } from '../../shared/records/phases.ts';
import { formatDuration, formatPercent } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { faster, named, timedClaim } from '../part.ts';
import { exchangeTime, meanIterationTime } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { QSGD } from './papers.ts';

const RANKS = [2, 4, 8];
/** Sockets and buffers have grown to their final size by then. */
const FROM = 3;
/** Gradients and bandwidth are scaled down together. */
const SMALLER = 256;
/** Milliseconds that one GPU takes for the whole batch; several GPUs divide it. */
const ALEXNET_MS = 80;

interface Network {
  readonly id: string;
  readonly name: string;
  readonly parameters: number;
  /** Multiply-adds of the forward pass for one sample. */
  readonly products: number;
}
const ALEXNET: Network = {
  id: 'alexnet',
  name: 'AlexNet',
  parameters: 61_100_840,
  products: 714_188_480,
};
const RESNET: Network = {
  id: 'resnet-50',
  name: 'ResNet-50',
  parameters: 25_557_032,
  products: 4_089_184_256,
};
const NETWORKS = [ALEXNET, RESNET];

const FULL = {
  id: 'full',
  name: '32 bit',
  exchange: { method: 'none', collective: 'ring' },
};
const QUANTISED = {
  id: 'bits-4',
  name: '4 bit',
  exchange: { method: 'qsgd', bits: 4, bucket: 512, minElements: 0 },
};
const WIDTHS = [FULL, QUANTISED];
type Width = (typeof WIDTHS)[number];

const idOf = (network: Network, ranks: number, { id }: Width): string =>
  `${network.id}-p${ranks}-${id}`;

const computeMs = ({ products }: Network, ranks: number): number =>
  Number(((ALEXNET_MS * products) / ALEXNET.products / ranks).toFixed(1));

const cases: readonly Case[] = NETWORKS.flatMap((network) =>
  RANKS.flatMap((ranks) =>
    WIDTHS.map((width) => ({
      id: idOf(network, ranks, width),
      label: `${network.name}, ${ranks} ranks, ${width.name}`,
      spec: {
        workload: {
          model: 'synthetic-gradient',
          dataset: 'none',
          batchPerRank: 1,
          synthetic: {
            layers: [Math.round(network.parameters / SMALLER)],
            computeMs: computeMs(network, ranks),
            overlap: 0,
          },
        },
        world: { ranks },
        exchange: width.exchange,
        network: { bandwidth: '200 Mbit/s', latency: '100 µs' },
        iterations: 13,
        evaluateEvery: 0,
      },
    })),
  ),
);

export const qsgdFigure2: Figure = {
  id: 'qsgd-figure-2',
  paper: QSGD,
  number: 'Figure 2',
  title: 'Computing and communicating with gradients in 32 and in 4 bits',
  claim: {
    text:
      'The share of communication in an epoch grows significantly with the number of ' +
      'GPUs. It is larger in some networks (AlexNet, VGG, LSTM) than in others ' +
      '(Inception, ResNet). In all of them, quantised gradients reduce the time of ' +
      'communication, even counting the time to quantise, and the time of an epoch.',
    quoted: [
      {
        text: '“the relative impact of communication increases significantly as we increase the number of GPUs”, for both kinds of networks',
        where: 'Experiments, “Communication vs. Computation”',
      },
      {
        text: '2 bits in buckets of 128, 4 and 8 bits in buckets of 512; “runtime improvements are non-trivial for all architectures we considered”',
        where: 'Experiments, “Communication vs. Computation”',
      },
      {
        text: 'up to 16 GPUs; shares and times are plotted, and the reductions of time in the appendix are lost in the text that we have',
        where: 'Figure 2',
      },
    ],
  },
  rule:
    'Two parts. First: with 4 bits communication takes less time than with 32, in ' +
    'both networks at each number of ranks. Second: so does an iteration, in both ' +
    'networks at 8 ranks. Less means 1.12 times less or more, SparCML’s smallest ' +
    'speed-up (section 8.3), as the numbers are lost in the text of this paper that we have.',
  settings: [
    {
      text: '4 bits in buckets of 512, small tensors included.',
      because:
        'Experiments: “4-bit and 8-bit quantization with 512 bucket size”. There is one tensor here.',
    },
    {
      text: '2, 4 and 8 ranks.',
      because:
        'Figure 2 goes to 16 GPUs; a computer that gives each rank a processor rarely has as many.',
    },
    {
      text: 'Time to quantise counts as communication.',
      because:
        'Experiments: “Communication time includes time spent compressing and uncompressing gradients.”',
    },
    {
      text: 'A network of 200 Mbit/s and 100 µs; 80 ms of computing for AlexNet’s batch on one GPU.',
      because:
        'Ours: with a 256th of the parameters they give AlexNet a share of communication of about 80 % and ResNet-50 one of 40 % with eight ranks, so that both kinds of networks are there. Neither the paper’s network nor its times are in the text.',
    },
    {
      text: '13 iterations, of which the last ten count.',
      because:
        'Ours: sockets and buffers have grown to their final size by the fourth.',
    },
    {
      text: 'No double buffering.',
      because:
        'Ours. Experiments: “We employed double buffering to perform communication and quantization concurrently with the computation.” It hides communication that fits beneath computing, in 32 as in 4 bits, and with it the difference that is judged.',
    },
  ],
  history: [
    'Confirmed by times that two busy processors took of eight ranks. Undecided since such times decide nothing: each rank needs a processor.',
  ],
  differences: [
    'That the share of communication grows with the number of GPUs, and is larger in AlexNet than in ResNet-50, is given here, not found: computing is a pause of a chosen length. The chart shows it; the rule leaves it out.',
    'Synthetic gradients with a 256th of the networks’ parameters, over an emulated network of 200 Mbit/s and 100 µs, with one rank for each GPU on one computer. Only AlexNet and ResNet-50.',
    'Computing is a pause: 80 ms for AlexNet’s batch on one GPU, and for ResNet-50’s in proportion to the multiplications of its forward pass, divided by the number of ranks. The total batch stays the same, so an epoch has as many iterations at every number of ranks. In the paper batches grow with the number of GPUs where accuracy allows it.',
    'Communication does not overlap computation, as it does with the paper’s double buffering.',
    '32-bit gradients use a ring; in 4 bits every rank sends its codes to every other, as in QSGD’s algorithm. With 4 bits, what a rank sends grows with the number of ranks; in a ring it hardly grows: at 16 ranks both would send the same amount.',
    'The time of an iteration is a mean of the ranks, and that of communication what it takes beyond the longest that a rank computes; both are medians over ten iterations.',
  ],
  timed: true,
  // The first took times from one rank.
  measureVersion: 2,
  seeds: [1, 2, 3, 4, 5],
  cases,
  measure: (records) => {
    const iteration = meanIterationTime(records, FROM);
    const communication = exchangeTime(records, FROM, COMMUNICATION_PHASES);
    return { values: { iteration, communication, share: communication / iteration } };
  },
  judge: (sweep) => {
    const of = (name: string, network: Network, ranks: number, width: Width) =>
      sweep.values(idOf(network, ranks, width), name);
    const most = RANKS.at(-1)!;
    return {
      parts: NETWORKS.flatMap((network) => [
        timedClaim(
          `${network.name}: with 4 bit communication takes less time at each number of ranks`,
          ...RANKS.map((ranks) =>
            named(
              `${ranks} ranks`,
              faster(
                of('communication', network, ranks, QUANTISED),
                of('communication', network, ranks, FULL),
              ),
            ),
          ),
        ),
        timedClaim(
          `${network.name}: with 4 bit an iteration takes less time at ${most} ranks`,
          faster(
            of('iteration', network, most, QUANTISED),
            of('iteration', network, most, FULL),
          ),
        ),
      ]),
      ours:
        `communication with 32 and with 4 bits at ${most} ranks: ` +
        NETWORKS.map(
          (network) =>
            `${network.name} ${WIDTHS.map((width) => formatDuration(sweep.mean(idOf(network, most, width), 'communication'))).join(', ')}`,
        ).join('; ') +
        `; share of communication at ${RANKS.join(', ')} ranks: ` +
        NETWORKS.flatMap((network) =>
          WIDTHS.map(
            (width) =>
              `${network.name}, ${width.name} ${shares(sweep, network, width)}`,
          ),
        ).join('; '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Share of an iteration that is communication, by the number of ranks. Means ' +
      'over the seeds; bars span the lowest to the highest value.',
    x: { label: 'ranks', scale: 'log', ticks: RANKS },
    y: { label: 'share of communication (%)', scale: 'linear' },
    series: NETWORKS.flatMap((network) =>
      WIDTHS.map((width) => ({
        name: `${network.name}, ${width.name}`,
        points: RANKS.map((ranks) =>
          pointOf(
            ranks,
            sweep
              .values(idOf(network, ranks, width), 'share')
              .map((share) => 100 * share),
          ),
        ),
      })),
    ),
  }),
  table: (sweep) => ({
    columns: [
      'time of an iteration (communication)',
      ...RANKS.map((ranks) => `${ranks} ranks`),
    ],
    rows: NETWORKS.flatMap((network) =>
      WIDTHS.map((width) => [
        `${network.name}, ${width.name}`,
        ...RANKS.map((ranks) => {
          const id = idOf(network, ranks, width);
          return `${formatDuration(sweep.mean(id, 'iteration'))} (${formatDuration(sweep.mean(id, 'communication'))})`;
        }),
      ]),
    ),
  }),
};

const shares = (sweep: Sweep, network: Network, width: Width): string =>
  RANKS.map((ranks) =>
    formatPercent(sweep.mean(idOf(network, ranks, width), 'share')),
  ).join(', ');
