/**
 * The number of entries in a sum of sparse vectors with uniformly drawn entries, by the number
 * of ranks and the entries of each. Source: SparCML, appendix B.1.
 */
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { check } from '../part.ts';
import { required, settled } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { SPARCML } from './papers.ts';

const LENGTH = 512;
const RANKS = [2, 4, 8, 16];
/** Entries of each rank. 16 ranks together have fewer than half of N, so sums stay sparse. */
const ENTRIES = [4, 15];
/** Relative; at least four times the error of a mean over the iterations. */
const WITHIN = 0.02;
const METHODS = [
  { id: 'uniform', name: 'uniform', method: 'topk' },
  { id: 'disjoint', name: 'disjoint', method: 'blockcd' },
] as const;
type Overlap = (typeof METHODS)[number]['id'];

const idOf = (overlap: Overlap, ranks: number, k: number): string =>
  `${overlap}-p${ranks}-k${k}`;

/** N·(1 − (1 − k/N)^P): the closed form of the paper's sum over the number of ranks. */
const expected = (ranks: number, k: number): number =>
  LENGTH * (1 - (1 - k / LENGTH) ** ranks);

const cases: readonly Case[] = METHODS.flatMap(({ id, name, method }) =>
  RANKS.flatMap((ranks) =>
    ENTRIES.map((k) => ({
      id: idOf(id, ranks, k),
      label: `${name}, ${ranks} ranks, k = ${k}`,
      spec: {
        workload: {
          model: 'synthetic-gradient',
          dataset: 'none',
          synthetic: { layers: [LENGTH], computeMs: 0, overlap: 0 },
          batchPerRank: 1,
        },
        world: { ranks },
        exchange: { method, k, collective: 'sparse-allgather' },
        iterations: 60,
        evaluateEvery: 0,
      },
    })),
  ),
);

export const sparcmlFigure7: Figure = {
  id: 'sparcml-figure-7',
  paper: SPARCML,
  number: 'Figure 7',
  title: 'Entries of a sum of vectors with uniformly drawn entries',
  claim: {
    text:
      'If each node has k of N entries, drawn uniformly, their sum is expected to ' +
      'have N·(1 − (1 − k/N)^P) entries: it grows with the number of nodes and the ' +
      'entries of each, but stays below P·k. It reaches P·k if no two nodes share an ' +
      'entry, “the special case where the problem reduces to an allgather”.',
    quoted: [
      {
        text: 'expected entries: N·Σᵢ (−1)^(i−1)·C(P, i)·(k/N)^i, and at most P·k; the bound is tight where entries are disjoint',
        where: 'appendix B and B.1',
      },
      {
        text: 'N = 512; the curves are plotted, but the text gives no numbers',
        where: 'Figure 7',
      },
    ],
  },
  rule:
    'Three checks, since entries are drawn as the formula assumes. First: for each ' +
    'number of entries per rank and each number of ranks, the entries of the sum, a ' +
    'mean over the iterations, are within 2 % of what the formula expects for every ' +
    'seed. Second: with 15 entries per rank and 16 ranks they are fewer than P·k. ' +
    'Third: where entries are disjoint there are P·k of them in every iteration.',
  settings: [
    {
      text: 'N = 512.',
      because: 'Figure 7 plots the expected number of entries for N = 512.',
    },
    {
      text: '2, 4, 8 and 16 ranks, 60 iterations.',
      because:
        'Ours: Figure 7 is of a formula for any number of nodes, and the text names none. The mean of 60 iterations is within a quarter of the 2 % that are allowed.',
    },
    {
      text: '4 and 15 entries of each rank.',
      because:
        'Ours, below the border at which SparCML’s collective gives up its sparse format and entries are not counted: 16 ranks together then have fewer than half of 512.',
    },
  ],
  history: [
    'Confirmed until what holds by construction was called checked: entries are drawn as the formula assumes.',
  ],
  differences: [
    'Counted in sums that real ranks exchanged, whereas the paper plots the formula: the mean of 60 iterations.',
    'The uniform entries are the largest of synthetic values, independent on each rank (top-k with its residual). The disjoint ones are the blocks of random block coordinate descent.',
    'k = 4 and 15: with more, 16 ranks together would have half of all entries, and then the collective gives up its sparse format and entries are not counted.',
  ],
  seeds: [1, 2],
  cases,
  measure: (records) => {
    const counts = settled(records, 0).map(({ nnzReduced }) =>
      required(nnzReduced, 'number of entries of the sum'),
    );
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return { values: { entries: mean(counts), least, most } };
  },
  judge: (sweep) => {
    const [ranks, k] = [RANKS.at(-1)!, ENTRIES.at(-1)!];
    const sums = sweep.values(idOf('uniform', ranks, k), 'entries');
    return {
      parts: [
        ...ENTRIES.map((each) =>
          check(
            `with ${each} entries per rank the sum has what the formula expects, within 2 %, at every number of ranks`,
            RANKS.every((count) => isAsExpected(sweep, count, each)),
          ),
        ),
        check(
          `with ${k} entries per rank and ${ranks} ranks it has fewer than P·k`,
          sums.every((entries) => entries < ranks * k),
        ),
        check(
          'where entries are disjoint it has P·k in every iteration',
          RANKS.every((count) => ENTRIES.every((each) => isUnion(sweep, count, each))),
        ),
      ],
      ours: ENTRIES.map(
        (each) =>
          `${each} entries of each of ${ranks} ranks give ${shown(sweep.mean(idOf('uniform', ranks, each), 'entries'))}, ` +
          `where ${shown(expected(ranks, each))} are expected; ` +
          `${shown(sweep.mean(idOf('disjoint', ranks, each), 'entries'))} where they are disjoint`,
      ).join('; '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Entries of the sum by the number of ranks, N = 512; both axes logarithmic. ' +
      'Means over the seeds; where no bars are drawn, seeds differ by less than the ' +
      'size of the marks.',
    x: { label: 'ranks', scale: 'log', ticks: RANKS },
    y: { label: 'entries of the sum', scale: 'log', ticks: [8, 16, 32, 64, 128, 256] },
    series: ENTRIES.flatMap((k) => [
      // Drawn beneath the counted entries.
      {
        name: `k = ${k}, formula`,
        points: RANKS.map((ranks) => pointOf(ranks, [expected(ranks, k)])),
      },
      ...METHODS.map(({ id, name }) => ({
        name: `k = ${k}, ${name}`,
        points: RANKS.map((ranks) =>
          pointOf(ranks, sweep.values(idOf(id, ranks, k), 'entries')),
        ),
      })),
    ]),
  }),
  table: (sweep) => ({
    columns: ['entries of the sum', ...RANKS.map((ranks) => `${ranks} ranks`)],
    rows: ENTRIES.flatMap((k) => [
      ...METHODS.map(({ id, name }) => [
        `k = ${k}, ${name}`,
        ...RANKS.map((ranks) => shown(sweep.mean(idOf(id, ranks, k), 'entries'))),
      ]),
      [`k = ${k}, formula`, ...RANKS.map((ranks) => shown(expected(ranks, k)))],
    ]),
  }),
};

const isAsExpected = (sweep: Sweep, ranks: number, k: number): boolean =>
  sweep
    .values(idOf('uniform', ranks, k), 'entries')
    .every((entries) => Math.abs(entries / expected(ranks, k) - 1) <= WITHIN);

const isUnion = (sweep: Sweep, ranks: number, k: number): boolean =>
  ['least', 'most'].every((name) =>
    sweep
      .values(idOf('disjoint', ranks, k), name)
      .every((entries) => entries === ranks * k),
  );

const shown = (entries: number): string => entries.toFixed(1);
