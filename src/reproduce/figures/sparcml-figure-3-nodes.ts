/**
 * The time of sparse collectives, by the number of ranks, on a slow network. Source: SparCML,
 * section 8.1; the left half of its Figure 3.
 */
import { formatDuration, formatFactor } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import {
  atMost,
  exceedsTimes,
  faster,
  LEAST_SPEED_UP,
  named,
  timedClaim,
} from '../part.ts';
import { ratios } from '../sweep.ts';
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

const RANKS = [2, 4, 8];
const [FEWEST, MOST] = [RANKS[0]!, RANKS.at(-1)!];
/** The density that each rank sends. */
const DENSITY = 0.00781;
const COLLECTIVES = [...SPARSE_COLLECTIVES, RING];

const idOf = (collective: string, ranks: number): string => `${collective}-p${ranks}`;

const casesOf = (scale: ReductionScale): readonly Case[] =>
  RANKS.flatMap((ranks) =>
    COLLECTIVES.map((collective) =>
      reductionCase(
        {
          id: idOf(collective, ranks),
          label: `${collective}, ${ranks} ranks`,
          ranks,
          exchange:
            collective === RING
              ? { method: 'none', collective }
              : { method: 'topk', ratio: DENSITY, collective },
        },
        scale,
      ),
    ),
  );

export const sparcmlFigure3Nodes: Figure = {
  id: 'sparcml-figure-3-nodes',
  paper: SPARCML,
  number: 'Figure 3, left',
  title: 'Time of sparse reductions, by the number of ranks',
  claim: {
    text:
      'With more nodes what is reduced grows, and the lead of recursive doubling over the other variants shrinks. ' +
      'The variant with a dense second phase “offers improvement even at a relative large number of nodes”, ' +
      'but only by a constant factor.',
    quoted: [
      {
        text: 'N = 16 M, d = 0.781 % on Piz Daint; times are plotted, but the text gives no numbers',
        where: 'Figure 3, section 8.1',
      },
      {
        text: '“At higher node count P, data becomes larger, which leads to less improvement of the algorithm SSAR_Recursive_double at the same number of non-zero entries over the other variants”',
        where: 'section 8.1',
      },
      {
        text: 'then: “Both facts are visible in Figure 3, where we notice that the difference between SSAR_Recursive_double and SSAR_Split_allgather is larger, when increasing the number of nodes compared to increasing density”',
        where: 'section 8.1',
      },
      {
        text: '“DSAR_Split_allgather offers improvement even at a relative large number of nodes, but only up to a constant factor”: 2/κ, κ is 1/2 for 32-bit values and indices, so 4 times',
        where: 'sections 8.1 and 5.3.3',
      },
      ...RINGS,
    ],
  },
  rule:
    `Three parts. At ${FEWEST} ranks recursive doubling takes less time than split and allgather; its ` +
    `leads over split and allgather and over the variant with a dense second phase, as ratios of times, are smaller at ${MOST}; ` +
    'and at each number of ranks that variant ' +
    'is faster than the dense ring, by no more than four times. That recursive doubling leads with few ranks is of section 8.1, ' +
    'where it is said of little data. Less time means 1.12 times less or more, the ' +
    'smallest speed-up that the paper reports as one (section 8.3). That more nodes make a larger difference than a higher density is ' +
    'not judged: the text leaves open whether they leave a larger lead or change it more, and the two were on different networks. ' +
    RINGS_RULE,
  ...reductionRuns(casesOf, {
    settings: [
      {
        text: `${RANKS.join(', ')} ranks, 0.781 % of each rank’s entries, drawn independently.`,
        because:
          'Figure 3: “Reduction time versus number of nodes on Daint (N=16M and d=0.781%)”. Its numbers of nodes are plotted alone.',
      },
    ],
    size: {
      text: 'A sixteenth of N, a tenth of Gigabit Ethernet.',
      because:
        'Ours, as in the right half. Section 8.1: “we did run identical tests on both Piz Daint and Greina (GigE)”, and two processors cannot carry eight ranks at a gigabit.',
    },
    network:
      'Rank processes on one computer, over an emulated network of 100 Mbit/s and 500 µs, not Piz Daint’s.',
    dense: 'The dense reduction is our ring, not Cray-MPICH’s.',
  }),
  judge: (sweep) => {
    const at = (collective: string, ranks: number): readonly number[] =>
      sweep.values(idOf(collective, ranks), 'time');
    const lead = (over: string, ranks: number): readonly number[] =>
      ratios(at(over, ranks), at(DOUBLING, ranks));
    return {
      parts: [
        timedClaim(
          `at ${FEWEST} ranks ${DOUBLING} takes less time than ${SPLIT}`,
          faster(at(DOUBLING, FEWEST), at(SPLIT, FEWEST)),
        ),
        timedClaim(
          `the lead of ${DOUBLING} over the other variants shrinks until ${MOST}`,
          ...[SPLIT, DENSE_SPLIT].map((over) =>
            named(
              over,
              exceedsTimes(lead(over, FEWEST), lead(over, MOST), LEAST_SPEED_UP),
            ),
          ),
        ),
        timedClaim(
          `${DENSE_SPLIT} is faster than the dense ring, by no more than four times`,
          ...RANKS.flatMap((ranks) => {
            const [ring, ours] = [at(RING, ranks), at(DENSE_SPLIT, ranks)];
            const most = { trueAt: 4, scale: 'ratio', format: formatFactor } as const;
            return [
              named(`${ranks} ranks`, faster(ours, ring)),
              named(`${ranks} ranks, at most`, atMost(ratios(ring, ours), most)),
            ];
          }),
        ),
      ],
      ours: RANKS.map(
        (ranks) =>
          `${ranks} ranks: ${COLLECTIVES.map((one) => `${shortName(one)} ${formatDuration(sweep.mean(idOf(one, ranks), 'time'))}`).join(', ')}`,
      ).join('; '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Time of one reduction by the number of ranks; both axes logarithmic. Means over the ' +
      'seeds; bars span the fastest to the slowest.',
    x: { label: 'ranks', scale: 'log', ticks: RANKS },
    y: { label: 'time of a reduction (ms)', scale: 'log' },
    series: COLLECTIVES.map((collective) => ({
      name: collective === RING ? 'ring, dense' : collective,
      points: RANKS.map((ranks) =>
        pointOf(ranks, sweep.values(idOf(collective, ranks), 'time')),
      ),
    })),
  }),
  table: (sweep) => ({
    columns: ['collective', ...RANKS.map((ranks) => `${ranks} ranks`)],
    rows: COLLECTIVES.map((collective) => [
      collective === RING ? 'ring, dense' : collective,
      ...RANKS.map((ranks) =>
        formatDuration(sweep.mean(idOf(collective, ranks), 'time')),
      ),
    ]),
  }),
};
