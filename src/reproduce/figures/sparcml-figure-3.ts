/**
 * The time of sparse collectives, by the density that each rank sends, on a slow
 * network. Source: SparCML, section 8.1; the right half of its Figure 3.
 */
import { formatDuration, formatFactor } from '../../shared/words/units.ts';
import { pointOf, type ChartPoint } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { atMost, exceedsTimes, faster, LEAST_SPEED_UP, timedClaim } from '../part.ts';
import { ratios, type Sweep } from '../sweep.ts';
import { SPARCML } from './papers.ts';
import {
  DENSE_SPLIT,
  DOUBLING,
  reductionCase,
  reductionRuns,
  RING,
  RINGS,
  RINGS_RULE,
  shortName,
  SPARSE_COLLECTIVES,
  SPLIT,
  type ReductionScale,
} from './sparcml-reductions.ts';

const DENSITIES = [0.0001, 0.001, 0.01, 0.1];
const RANKS = 8;

const idOf = (collective: string, density: number): string =>
  `${collective}-d${density}`;

const casesOf = (scale: ReductionScale): readonly Case[] => [
  ...DENSITIES.flatMap((ratio) =>
    SPARSE_COLLECTIVES.map((collective) =>
      reductionCase(
        {
          id: idOf(collective, ratio),
          label: `${collective}, ${percent(ratio)}`,
          ranks: RANKS,
          exchange: { method: 'topk', ratio, collective },
        },
        scale,
      ),
    ),
  ),
  reductionCase(
    {
      id: RING,
      label: 'dense ring',
      ranks: RANKS,
      exchange: { method: 'none', collective: RING },
    },
    scale,
  ),
];

export const sparcmlFigure3: Figure = {
  id: 'sparcml-figure-3',
  paper: SPARCML,
  number: 'Figure 3',
  title: 'Time of sparse reductions, by density',
  claim: {
    text:
      'For little data, recursive doubling is the fastest reduction. Split and ' +
      'allgather on sparse streams beats its variant with a dense second phase as ' +
      'long as few entries are non-zero. The variant also beats a dense allreduce, ' +
      'but only by a constant factor.',
    quoted: [
      {
        text: 'N = 16 M, P = 8 on Gigabit Ethernet, five data sets of ten repetitions; times are plotted, but the text gives no numbers',
        where: 'Figure 3, section 8.1',
      },
      {
        text: 'at most 2/κ times as fast as the best dense allreduce; κ is 1/2 for 32-bit values and indices, so 4 times',
        where: 'section 5.3.3',
      },
      ...RINGS,
    ],
  },
  rule:
    'Four parts. At the lowest density recursive doubling takes less time than split ' +
    'and allgather; there split and allgather takes less time than its variant with ' +
    'a dense second phase; that lead, as a ratio of times, is smaller at the highest ' +
    'density; and at the lowest density the variant is faster than the dense ring, ' +
    'by no more than four times. Less time means 1.12 times less or more, the ' +
    'smallest speed-up that the paper reports as one (section 8.3). ' +
    RINGS_RULE,
  history: [
    'Undecided at first: on a busy computer the seeds’ times differed by more than recursive doubling’s lead over split and allgather, 11.3 and 18.5 ms. Times are compared by their ratios since.',
    'Confirmed by times that two busy processors took of eight ranks. Undecided since such times decide nothing: each rank needs a processor.',
  ],
  ...reductionRuns(casesOf, {
    settings: [
      {
        text: 'Eight ranks, densities of 0.01 to 10 % of each rank’s entries, drawn independently.',
        because:
          'Figure 3: “reduction time versus data density on Greina (N=16M and P=8) for various algorithms”. Its densities are plotted alone; ours span the four powers of ten around where formats change.',
      },
    ],
    size: {
      text: 'A sixteenth of N, a tenth of Gigabit Ethernet.',
      because:
        'Ours: two processors cannot carry eight ranks at a gigabit. Time by bytes and time by latency keep roughly their ratio, since latency is ten times as high; that of computing to both falls.',
    },
    network:
      'Eight rank processes on one computer, over an emulated network of 100 Mbit/s and 500 µs: a tenth of Gigabit Ethernet in bandwidth and ten times its latency, so that two cores keep up with it.',
    dense:
      'The dense reduction is our ring, not Open MPI’s. It does not depend on the density, so it was measured once per seed and is drawn as a line.',
  }),
  judge: (sweep) => {
    const [low, high] = [DENSITIES[0]!, DENSITIES.at(-1)!];
    const at = (collective: string, density: number): readonly number[] =>
      sweep.values(idOf(collective, density), 'time');
    const ring = sweep.values(RING, 'time');
    const lead = (density: number): readonly number[] =>
      ratios(at(DENSE_SPLIT, density), at(SPLIT, density));
    const gains = ratios(ring, at(DENSE_SPLIT, low));
    return {
      parts: [
        timedClaim(
          `at ${percent(low)} ${DOUBLING} takes less time than ${SPLIT}`,
          faster(at(DOUBLING, low), at(SPLIT, low)),
        ),
        timedClaim(
          `at ${percent(low)} ${SPLIT} takes less time than ${DENSE_SPLIT}`,
          faster(at(SPLIT, low), at(DENSE_SPLIT, low)),
        ),
        timedClaim(
          `that lead shrinks until ${percent(high)}`,
          exceedsTimes(lead(low), lead(high), LEAST_SPEED_UP),
        ),
        timedClaim(
          `at ${percent(low)} ${DENSE_SPLIT} is faster than the dense ring, by no more than four times`,
          faster(at(DENSE_SPLIT, low), ring),
          atMost(gains, { trueAt: 4, scale: 'ratio', format: formatFactor }),
        ),
      ],
      ours: [low, high]
        .map(
          (density) =>
            `at ${percent(density)} ${SPARSE_COLLECTIVES.map((one) => `${shortName(one)} ${formatDuration(sweep.mean(idOf(one, density), 'time'))}`).join(', ')}`,
        )
        .concat(`dense ring ${formatDuration(sweep.mean(RING, 'time'))}`)
        .join('; '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Time of one reduction by the density that each rank sends; both axes ' +
      'logarithmic. Means over the seeds; bars span the fastest to the slowest.',
    x: {
      label: 'density that a rank sends (%)',
      scale: 'log',
      ticks: [0.01, 0.1, 1, 10],
    },
    y: { label: 'time of a reduction (ms)', scale: 'log' },
    series: [
      ...SPARSE_COLLECTIVES.map((collective) => ({
        name: collective,
        points: DENSITIES.map((density) =>
          timeAt(sweep, idOf(collective, density), density),
        ),
      })),
      {
        name: 'ring, dense',
        points: DENSITIES.map((density) => timeAt(sweep, RING, density)),
      },
    ],
  }),
  table: (sweep) => ({
    columns: ['collective', ...DENSITIES.map(percent)],
    rows: [
      ...SPARSE_COLLECTIVES.map((collective) => [
        collective,
        ...DENSITIES.map((density) =>
          formatDuration(sweep.mean(idOf(collective, density), 'time')),
        ),
      ]),
      ['ring, dense', ...DENSITIES.map(() => formatDuration(sweep.mean(RING, 'time')))],
    ],
  }),
};

const timeAt = (sweep: Sweep, id: string, density: number): ChartPoint =>
  pointOf(100 * density, sweep.values(id, 'time'));

function percent(ratio: number): string {
  return `${Number((100 * ratio).toPrecision(3))} %`;
}
