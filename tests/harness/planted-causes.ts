/** Real runs whose step is bound by what was planted, and the verdict on them. */
import path from 'node:path';
import type { Gain } from '../../src/shared/verdict/proof.ts';
import { RecentIterations } from '../../src/shared/verdict/recent-iterations.ts';
import { verdictContext } from '../../src/shared/verdict/verdict-context.ts';
import { verdict, type Verdict } from '../../src/shared/verdict/verdict.ts';
import {
  summarizeWindow,
  windowStart,
} from '../../src/shared/verdict/window-summary.ts';
import type { RunEvent, RunRecord } from '../../src/shared/records/record-kinds.ts';
import { succeeded, type GradwireHome } from './gradwire.ts';
import { ofType } from './records.ts';

/** A run of the quickstart, or of a program of one's own. */
interface PlantedRun {
  readonly settings: readonly string[];
  /** A program in place of the quickstart's model, with its arguments. */
  readonly program?: readonly string[];
}

export interface PlantedCause extends PlantedRun {
  readonly name: string;
  /** Numbers of ranks with which it bounds the step; default: any. */
  readonly onlyWith?: readonly number[];
  /** Whether the verdict names what was planted. */
  readonly isNamed: (verdict: Verdict) => boolean;
  /** The same run with the remedy, and the promise of the verdict for it. */
  readonly remedy?: PlantedRun & {
    readonly promised: (verdict: Verdict) => Gain | undefined;
    /** Whether what it promises is a bound. */
    readonly isBound: boolean;
  };
}

const DENSE = 'exchange.method=none';

// 797 kB at 50 Mbit/s take 128 ms; a step computes for some 10 ms.
export const SLOW_LINK = 'network={bandwidth: 50 Mbit/s, latency: 50 µs}';
// At 100 Gbit/s they take 64 µs.
const FAST_LINK = 'network={bandwidth: 100 Gbit/s, latency: 50 µs}';

const TINY_MODEL = 'workload={model: logistic-regression, dataset: sparse}';

const gainOf =
  (id: 'straggler' | 'payload' | 'latency' | 'dense') =>
  ({ statements }: Verdict): Gain | undefined =>
    statements.find(({ remedy }) => remedy?.id === id)?.remedy?.gain;

export const A_SLOW_LINK: PlantedCause = {
  name: 'a slow link',
  settings: [SLOW_LINK, DENSE, 'iterations=25'],
  isNamed: ({ bound }) => bound === 'bandwidth',
  remedy: {
    promised: gainOf('payload'),
    isBound: true,
    settings: [
      SLOW_LINK,
      ...['exchange.method=topk', 'exchange.ratio=0.001', 'iterations=40'],
    ],
  },
};

/** A step of a rank that keeps pace, and of the slow one; each sleeps, so that ranks want no cores. */
const PACE = '30';
const SLOW_PACE = '200';
/** The program whose steps take this long, with or without a slow rank, and its arguments. */
export const paced = (steps: number, slowRank?: number): readonly string[] => [
  path.join(import.meta.dirname, '../integration/programs/paced-program.ts'),
  ...[`${steps}`, PACE],
  ...(slowRank === undefined ? [] : [`${slowRank}`, SLOW_PACE]),
];

export const A_SLOW_RANK: PlantedCause = {
  name: 'a slow rank',
  settings: [FAST_LINK, DENSE],
  program: paced(40, 1),
  isNamed: ({ account, bound }) =>
    bound === 'straggler' && account.straggler?.rank === 1,
  remedy: {
    promised: gainOf('straggler'),
    isBound: true,
    settings: [FAST_LINK, DENSE],
    program: paced(60),
  },
};

export const PLANTED: readonly PlantedCause[] = [
  A_SLOW_LINK,
  A_SLOW_RANK,
  {
    name: 'latency',
    settings: [
      'network={bandwidth: 1 Gbit/s, latency: 100 ms}',
      DENSE,
      'iterations=21',
    ],
    isNamed: ({ bound }) => bound === 'latency',
    remedy: {
      promised: gainOf('latency'),
      isBound: true,
      settings: [
        'network={bandwidth: 1 Gbit/s, latency: 50 µs}',
        DENSE,
        'iterations=40',
      ],
    },
  },
  {
    name: 'a latency of 20 ms',
    settings: [
      'network={bandwidth: 10 Gbit/s, latency: 20 ms}',
      DENSE,
      'iterations=40',
    ],
    // Eight ranks on two cores compute while messages are underway: it costs them nothing.
    onlyWith: [2],
    isNamed: ({ bound }) => bound === 'latency',
    remedy: {
      promised: gainOf('latency'),
      isBound: true,
      settings: [FAST_LINK, DENSE, 'iterations=40'],
    },
  },
  {
    name: 'too few cores',
    settings: [FAST_LINK, DENSE, 'iterations=30'],
    onlyWith: [8, 24],
    isNamed: ({ bound }) => bound === 'cores',
  },
  {
    name: 'a tiny model',
    settings: [...[TINY_MODEL, DENSE], ...[FAST_LINK, 'iterations=60']],
    isNamed: (verdict) =>
      verdict.bound !== 'bandwidth' && (gainOf('payload')(verdict)?.factor ?? 1) < 1.02,
    remedy: {
      promised: gainOf('payload'),
      isBound: true,
      settings: [
        ...[TINY_MODEL, FAST_LINK, 'iterations=60'],
        ...['exchange.method=topk', 'exchange.ratio=0.001'],
      ],
    },
  },
  {
    name: 'compression that costs more than it saves',
    settings: [
      FAST_LINK,
      'exchange.method=topk',
      'exchange.ratio=0.5',
      'iterations=40',
    ],
    isNamed: ({ statements }) =>
      statements.some(({ text }) => text.includes('do not compress here')),
    remedy: {
      promised: gainOf('dense'),
      isBound: false,
      settings: [FAST_LINK, DENSE, 'iterations=40'],
    },
  },
];

/** Runs it with this number of ranks, and judges its records as the page does. */
export async function plantedVerdict(
  home: GradwireHome,
  ranks: number,
  { program, settings }: PlantedRun,
): Promise<{ readonly verdict: Verdict; readonly records: readonly RunRecord[] }> {
  const options = settings.flatMap((setting) => ['--set', setting]);
  const command = home.start(
    program === undefined
      ? [
          ...['run', 'quickstart', '--json', '--set', `world.ranks=${ranks}`],
          ...['--set', 'evaluateEvery=0', ...options],
        ]
      : [
          ...['exec', '--json', '--ranks', `${ranks}`, ...options],
          ...['--', process.execPath, ...program],
        ],
  );
  succeeded(await command.finished);
  return { verdict: verdictOn(command.records, ranks), records: command.records };
}

/**
 * Says in which way a run with the remedy does not keep what was promised for it; undefined if it
 * does. Means of both are within their intervals; a bound is not undercut.
 */
export function brokenPromise(gain: Gain, { account }: Verdict): string | undefined {
  const { low, high } = account.step;
  const isKept = high >= gain.step.low && (gain.isBound || low <= gain.step.high);
  if (isKept) return undefined;
  const range = (from: number, to: number): string =>
    `${from.toFixed(1)} to ${to.toFixed(1)} ms`;
  return `promised ${gain.isBound ? 'no less than ' : ''}${range(gain.step.low, gain.step.high)}, shown ${range(low, high)}`;
}

export function verdictOn(
  records: readonly RunRecord[],
  ranks: number,
  nodes: readonly string[] = [],
): Verdict {
  const recent = new RecentIterations(ranks, 512);
  for (const record of ofType(records, 'iteration')) recent.add(record);
  const to = recent.newestComplete + 1;
  const summary = summarizeWindow(
    recent,
    windowStart(ofType(records, 'switch'), to),
    to,
  )!;
  const events = records.filter(
    (record): record is RunEvent =>
      record.type !== 'iteration' && record.type !== 'log',
  );
  return verdict(summary, verdictContext({ events, ranks, nodes }))!;
}
