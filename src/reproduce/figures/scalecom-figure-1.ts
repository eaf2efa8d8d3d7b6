/**
 * Gradient build-up: what a worker receives of the sum of sparse gradients, by the number of
 * workers. Source: ScaleCom, Figure 1.
 */
import { formatBytes, formatFactor } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { atLeast, check, claim, exceedsTimes, named, type Part } from '../part.ts';
import { iterationsOf } from '../run-measures.ts';
import { mean, ratios, type Sweep } from '../sweep.ts';
import { SCALECOM } from './papers.ts';

const WORKERS = [2, 4, 8];
const METHODS = [
  { id: 'topk', name: 'local top-k' },
  { id: 'scalecom', name: 'ScaleCom' },
] as const;
type MethodId = (typeof METHODS)[number]['id'];
/** The compression rate, as in the paper. */
const COMPRESSION = 112;
/** The residual holds most entries by then. */
const FROM = 6;
/** More growth than this is not constant. */
const CONSTANT = 1.1;
/** Factors of growth from 2 to 8 workers, where linear growth is fourfold. */
const [HALF_OF_LINEAR, HARDLY] = [2, 1.5];

const idOf = (method: MethodId, workers: number): string => `${method}-p${workers}`;

const cases: readonly Case[] = METHODS.flatMap(({ id, name }) =>
  WORKERS.map((workers) => ({
    id: idOf(id, workers),
    label: `${name}, ${workers} workers`,
    spec: {
      workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 32 },
      world: { ranks: workers },
      optimizer: { kind: 'sgd', lr: 0.1, momentum: 0 },
      exchange: {
        method: id,
        ratio: Number((1 / COMPRESSION).toPrecision(4)),
        collective: 'parameter-server',
        servers: 1,
      },
      iterations: 12,
      evaluateEvery: 0,
    },
  })),
);

export const scalecomFigure1: Figure = {
  id: 'scalecom-figure-1',
  paper: SCALECOM,
  number: 'Figure 1',
  title: 'What a worker receives of compressed gradients, by the number of workers',
  claim: {
    text:
      'Workers that choose their entries independently choose different ones, so ' +
      'what the parameter server sends back grows linearly with the number of ' +
      'workers. If all send the entries that one leader chose, as in ScaleCom, it ' +
      'stays the same.',
    quoted: [
      {
        text: 'the overall compression ratio for the accumulated gradients decreases linearly with the number of workers',
        where: 'Figure 1a and its text',
      },
      {
        text: 'ResNet50 on ImageNet at 112 times; the times are plotted, but the text gives no numbers',
        where: 'Figure 1b',
      },
    ],
  },
  rule:
    'Two claims. First: under local top-k a worker receives more bytes at twice as ' +
    'many workers, each time, by a tenth or more. Second: from 2 to 8 workers, ' +
    'where linear growth is fourfold, it receives at least twice as much; at most ' +
    'one and a half times as much refutes the claim. And a check: under ScaleCom, ' +
    'where the leader’s choice fixes the size, it receives at 8 workers at most a ' +
    'tenth more than at 2.',
  settings: [
    {
      text: 'A compression of 112 times, by a parameter server.',
      because:
        'Figure 1: “ResNet50 (ImageNet), bandwidth=32GBps, and compression rate 112X are used”; “communication from parameter server to workers becomes a server bottleneck”.',
    },
    {
      text: '2, 4 and 8 workers.',
      because:
        'Ours: the text has no numbers for Figures 1a and 1b. Linear growth is fourfold between them.',
    },
    {
      text: 'SGD with 32 samples per worker, a rate of 0.1, no momentum; 12 iterations, of which 6 to 11 count.',
      because:
        'Section 4: “per-worker mini-batch size, 32 for vision”. Rate, momentum and iterations are ours: bytes depend only on which entries workers choose, and those with a residual differ from the first iterations on.',
    },
  ],
  differences: [
    'FNN-3 on the embedded digits (199,210 parameters), not ResNet50 on ImageNet; iterations 6 to 11.',
    'Bytes at a worker’s socket, without framing, not the modelled time of a server’s link.',
    'The server is the first rank, which is also a worker; the bytes are those of the last rank, in iterations in which it is not the leader, since the leader sends indices and receives none.',
    'Weights of pixels that are always blank get no gradient, so no worker chooses them, and the build-up is less than with all weights in use.',
  ],
  seeds: [1, 2, 3, 4, 5],
  cases,
  measure: (records) => {
    const iterations = iterationsOf(records);
    const last = Math.max(...iterations.map(({ rank }) => rank));
    // A leader of ScaleCom sends the indices, and receives none.
    const leads = (iteration: number): boolean => iteration % (last + 1) === last;
    const settled = iterations.filter(
      ({ iteration, rank }) => rank === last && iteration >= FROM && !leads(iteration),
    );
    const received = settled.map(
      ({ bytes }) => bytes.wireReceived! - bytes.framingReceived!,
    );
    return { values: { received: mean(received) } };
  },
  judge: (sweep) => ({
    parts: [builtUp(sweep), nearlyLinear(sweep), constant(sweep)],
    ours: METHODS.map(({ id, name }) => {
      const [first, last] = [WORKERS[0]!, WORKERS.at(-1)!];
      const at = (workers: number): string =>
        formatBytes(sweep.mean(idOf(id, workers), 'received'));
      return `${name} ${at(first)} at ${first} workers and ${at(last)} at ${last}`;
    }).join('; '),
  }),
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Bytes that a worker receives in an iteration by the number of workers; both ' +
      'axes logarithmic. Means over the seeds; bars span the lowest to the highest ' +
      'value.',
    x: { label: 'workers', scale: 'log', ticks: WORKERS },
    y: { label: 'received (kB)', scale: 'log' },
    series: METHODS.map(({ id, name }) => ({
      name,
      points: WORKERS.map((workers) =>
        pointOf(
          workers,
          sweep.values(idOf(id, workers), 'received').map((bytes) => bytes / 1000),
        ),
      ),
    })),
  }),
  table: (sweep) => ({
    columns: ['method', ...WORKERS.map((workers) => `${workers} workers`)],
    rows: METHODS.map(({ id, name }) => [
      name,
      ...WORKERS.map((workers) =>
        formatBytes(sweep.mean(idOf(id, workers), 'received')),
      ),
    ]),
  }),
};

const builtUp = (sweep: Sweep): Part =>
  claim(
    'under local top-k a worker receives more at twice as many workers',
    ...WORKERS.slice(1).map((workers, index) =>
      named(
        `${WORKERS[index]!} to ${workers} workers`,
        exceedsTimes(
          sweep.values(idOf('topk', workers), 'received'),
          sweep.values(idOf('topk', WORKERS[index]!), 'received'),
          CONSTANT,
        ),
      ),
    ),
  );

const nearlyLinear = (sweep: Sweep): Part =>
  claim(
    'from 2 to 8 workers that grows at least half as much as linear growth',
    atLeast(growthOf(sweep, 'topk'), {
      trueAt: HALF_OF_LINEAR,
      falseAt: HARDLY,
      scale: 'ratio',
      format: formatFactor,
    }),
  );

const constant = (sweep: Sweep): Part =>
  check(
    'under ScaleCom a worker receives as much at 8 workers as at 2',
    growthOf(sweep, 'scalecom').every((factor) => factor <= CONSTANT),
  );

/** Bytes received with the most workers divided by those with the fewest, by seed. */
function growthOf(sweep: Sweep, method: MethodId): readonly number[] {
  const few = sweep.values(idOf(method, WORKERS[0]!), 'received');
  return ratios(sweep.values(idOf(method, WORKERS.at(-1)!), 'received'), few);
}
