/**
 * Fill-in: the density of the sum of sparse gradients, by the number of ranks and the
 * density that each sends. Source: SparCML, section 3.
 */
import { formatPercent } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure, Setting } from '../figure.ts';
import { check, claim, exceedsTimes, named, type Part } from '../part.ts';
import { settled } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { CIFAR_10 } from './brought-data.ts';
import { SPARCML } from './papers.ts';

const RANKS = [2, 4, 8];
/** k/N of each rank. */
const DENSITIES = [0.001, 0.01, 0.1];
/** The residual holds most entries by then, and further iterations change little. */
const FROM = 6;
/** The smallest growth that counts: a tenth. Ours: the text gives no numbers. */
const GROWTH = 1.1;

const idOf = (ranks: number, density: number): string => `p${ranks}-d${density}`;

/**
 * The paper's settings: samples of all ranks together, and the epoch of its snapshot.
 */
const BATCH = 256;
const EPOCH = Math.ceil(50_000 / BATCH);
const EPOCHS = 5;

const laptop = () => ({
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 32 },
  optimizer: { kind: 'sgd', lr: 0.1, momentum: 0 },
  iterations: 12,
});
const paper = (ranks: number) => ({
  workload: { model: 'resnet-20', dataset: 'cifar-10', batchPerRank: BATCH / ranks },
  optimizer: { kind: 'sgd', lr: 0.1, momentum: 0.9, weightDecay: 0.0001 },
  iterations: EPOCHS * EPOCH,
});

const casesOf = (training: (ranks: number) => object): readonly Case[] =>
  RANKS.flatMap((ranks) =>
    DENSITIES.map((ratio) => ({
      id: idOf(ranks, ratio),
      label: `${ranks} ranks, ${tenths(ratio)}`,
      spec: {
        ...training(ranks),
        world: { ranks },
        exchange: { method: 'topk', ratio, collective: 'ssar-recursive-doubling' },
        evaluateEvery: 0,
      },
    })),
  );

/** @param from the first iteration that is counted */
const densityFrom =
  (from: number): Figure['measure'] =>
  (records) => {
    const iterations = settled(records, from);
    const densities = iterations.flatMap(({ nnzReduced, bytes }) =>
      nnzReduced === undefined ? [] : [nnzReduced / (bytes.dense / 4)],
    );
    const dense = 1 - densities.length / iterations.length;
    return {
      values: dense > 0 ? { dense } : { dense, density: mean(densities) },
    };
  };

const ABSENT_NOTE =
  'Where the collective went dense the entries of the sum are not counted, so the point is absent. The sum itself may still have fewer than half of all entries.';

const DENSITIES_AND_RANKS: readonly Setting[] = [
  {
    text: '0.1, 1 and 10 % of the entries of each rank.',
    because:
      'Section 3: “lower sparsity levels–say, 5–10 % per node” and “high sparsity levels (above 99 %)”; a power of ten below and above the border between them.',
  },
  {
    text: '2, 4 and 8 ranks.',
    because:
      'Ours: the text says “a large number of nodes” without a number. Each step doubles them, so what is judged, growth with each step, does not depend on the largest.',
  },
];
const FULL_SETTINGS: readonly Setting[] = [
  ...DENSITIES_AND_RANKS,
  {
    text: `${EPOCHS * EPOCH} iterations, of which the last ${EPOCH} count: epoch ${EPOCHS}.`,
    because: 'Figure 1: “The snapshot is taken at training epoch 5.”',
  },
  {
    text: `Batches of ${BATCH} samples over all ranks: 128, 64 and 32 for each of 2, 4 and 8.`,
    because:
      'Table 3 has this batch for ResNet-110 on the same data; the text gives none for ResNet-20.',
  },
  {
    text: 'SGD with a rate of 0.1, momentum 0.9 and a weight decay of 0.0001.',
    because:
      'Ours: the text gives none of them for this network. They are those of the network’s authors (He et al.), for batches of 128.',
  },
];

export const sparcmlFigure1: Figure = {
  id: 'sparcml-figure-1',
  paper: SPARCML,
  number: 'Figure 1',
  title: 'Density of the sum of sparse gradients, by the number of ranks',
  claim: {
    text:
      'The density of the reduced result grows with the number of nodes and with the ' +
      'density that each node sends.',
    quoted: [
      {
        text: '5–10 % of the gradient per node, over a large number of nodes, “can negate the benefits of compression”',
        where: 'section 3',
      },
      {
        text: 'ResNet-20 on CIFAR-10 at epoch 5; the densities are plotted, but the text gives no numbers',
        where: 'Figure 1',
      },
    ],
  },
  rule:
    'One claim: for each density per rank, the density of the sum is at ' +
    'least a tenth higher at twice as many ranks, as long as it was counted. And two ' +
    'checks. At each number of ranks the sum is denser where each rank sends ten times as much, as it must: with ' +
    'ten times the entries of one rank it has more than those of eight before. At 10 % per rank and 8 ranks ' +
    'SparCML’s own collective has given up its sparse format in all iterations, as it must when two streams together ' +
    'may have half of all entries. Whether communication is the bottleneck again is not judged.',
  settings: [
    ...DENSITIES_AND_RANKS,
    {
      text: 'Batches of 32 samples for each rank.',
      because:
        'Ours: the text gives no batch for this figure. With 8 ranks they are 256 samples, as Table 3 has for ResNet-110 on CIFAR-10.',
    },
    {
      text: 'Iterations 6 to 11 of 12 iterations.',
      because:
        'Figure 1 is a snapshot at epoch 5, and “results are consistent across training stages (1st, 5th, and last epoch)”. Where 10 % are sent, a residual holds what it will hold after a few iterations; where 0.1 % are, it still grows, which lets entries of different ranks differ more.',
    },
    {
      text: 'SGD without momentum, a rate of 0.1.',
      because:
        'Algorithm 1 has no momentum. The rate is ours; it scales gradient and residual alike, so it changes the choice of entries little in so few iterations.',
    },
  ],
  differences: [
    'FNN-3 on the embedded digits (199,210 parameters), not ResNet-20 on CIFAR-10. Weights of pixels that are always blank get no gradient, so some entries can never fill in.',
    'Up to 8 ranks, iterations 6 to 11, not epoch 5.',
    ABSENT_NOTE,
  ],
  seeds: [1, 2, 3, 4, 5],
  cases: casesOf(laptop),
  full: {
    cases: casesOf(paper),
    data: CIFAR_10,
    measure: densityFrom((EPOCHS - 1) * EPOCH),
    settings: FULL_SETTINGS,
    differences: [
      `ResNet-20 on CIFAR-10 as in the paper; images are neither cropped nor flipped. All ${EPOCH} iterations of epoch ${EPOCHS} count, not a single one.`,
      'Up to 8 ranks: the paper’s text does not give its number.',
      ABSENT_NOTE,
    ],
  },
  measure: densityFrom(FROM),
  judge: (sweep) => {
    const [ranks, ratio] = [RANKS.at(-1)!, DENSITIES.at(-1)!];
    const given = sweep.values(idOf(ranks, ratio), 'dense');
    const wentDense = check(
      `at ${tenths(ratio)} per rank and ${ranks} ranks the collective goes dense`,
      given.every((share) => share === 1),
    );
    return {
      parts: [
        ...DENSITIES.map((density) => growth(sweep, density)),
        denserByDensity(sweep),
        wentDense,
      ],
      ours: DENSITIES.map((density) => growthText(sweep, density)).join('; '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Density of the sum by the number of ranks, a line for each density that a ' +
      'rank sends. Means over the seeds; where no bars are drawn, seeds differ by ' +
      'less than the size of the marks. A line ends where the collective went dense.',
    x: { label: 'ranks', scale: 'log', ticks: RANKS },
    y: { label: 'density of the sum (%)', scale: 'log' },
    series: DENSITIES.map((density) => ({
      name: `${tenths(density)} per rank`,
      points: observed(sweep, density).map(({ ranks, values }) =>
        pointOf(
          ranks,
          values.map((value) => 100 * value),
        ),
      ),
    })),
    references: [{ y: 50, label: 'half of all entries: sparse is no longer smaller' }],
  }),
  table: (sweep) => ({
    columns: ['each rank sends', ...RANKS.map((ranks) => `${ranks} ranks`)],
    rows: DENSITIES.map((density) => [
      tenths(density),
      ...RANKS.map((ranks) => {
        const values = sweep.observed(idOf(ranks, density), 'density');
        return values === undefined ? 'dense' : formatPercent(mean(values));
      }),
    ]),
  }),
};

/**
 * The points where the entries of the sum were counted, with one value for each seed.
 */
function observed(
  sweep: Sweep,
  density: number,
): readonly { readonly ranks: number; readonly values: readonly number[] }[] {
  return RANKS.flatMap((ranks) => {
    const values = sweep.observed(idOf(ranks, density), 'density');
    return values === undefined ? [] : [{ ranks, values }];
  });
}

function growth(sweep: Sweep, density: number): Part {
  const points = observed(sweep, density);
  return claim(
    `at ${tenths(density)} per rank the density grows with every step that was counted`,
    ...points.slice(1).map(({ ranks, values }, index) => {
      const before = points[index]!;
      return named(
        `${before.ranks} to ${ranks} ranks`,
        exceedsTimes(values, before.values, GROWTH),
      );
    }),
  );
}

/** Compares one density per rank with the next, at each number of ranks. */
const denserByDensity = (sweep: Sweep): Part =>
  check(
    'at each number of ranks the sum is denser where each rank sends more',
    RANKS.every((ranks) =>
      DENSITIES.slice(1).every((density, index) => {
        const more = sweep.observed(idOf(ranks, density), 'density');
        const less = sweep.observed(idOf(ranks, DENSITIES[index]!), 'density');
        return more === undefined || less === undefined || mean(more) > mean(less);
      }),
    ),
  );

function growthText(sweep: Sweep, density: number): string {
  const points = observed(sweep, density);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) {
    return `${tenths(density)} per rank: sent dense at every number of ranks`;
  }
  const next = RANKS[RANKS.indexOf(last.ranks) + 1];
  return (
    `${tenths(density)} per rank gives ${formatPercent(mean(first.values))} at ${first.ranks} ` +
    `ranks and ${formatPercent(mean(last.values))} at ${last.ranks}` +
    (next === undefined ? '' : `, and is sent dense at ${next}`)
  );
}

/** `0.1 %` */
function tenths(ratio: number): string {
  return `${Number((100 * ratio).toPrecision(3))} %`;
}
