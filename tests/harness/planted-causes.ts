/** Real runs whose step is bound by what was planted, and the verdict on them. */
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

export interface PlantedCause {
  readonly name: string;
  readonly settings: readonly string[];
  /** Whether rank 0 is stopped for most of the time. */
  readonly slowRank?: boolean;
  /** Numbers of ranks with which it bounds the step; default: any. */
  readonly onlyWith?: readonly number[];
  /** Whether the verdict names what was planted. */
  readonly isNamed: (verdict: Verdict) => boolean;
}

const DENSE = 'exchange.method=none';

// 797 kB at 50 Mbit/s take 128 ms; a step computes for some 10 ms.
export const SLOW_LINK = 'network={bandwidth: 50 Mbit/s, latency: 50 µs}';
// At 100 Gbit/s they take 64 µs.
const FAST_LINK = 'network={bandwidth: 100 Gbit/s, latency: 50 µs}';

export const A_SLOW_LINK: PlantedCause = {
  name: 'a slow link',
  settings: [SLOW_LINK, DENSE, 'iterations=25'],
  isNamed: ({ bound }) => bound === 'bandwidth',
};

export const A_SLOW_RANK: PlantedCause = {
  name: 'a slow rank',
  settings: [FAST_LINK, DENSE, 'iterations=60'],
  slowRank: true,
  isNamed: ({ account }) => account.straggler?.rank === 0,
};

export const PLANTED: readonly PlantedCause[] = [
  A_SLOW_LINK,
  A_SLOW_RANK,
  {
    name: 'latency',
    settings: [
      'network={bandwidth: 1 Gbit/s, latency: 300 ms}',
      DENSE,
      'iterations=21',
    ],
    isNamed: ({ bound }) => bound === 'latency',
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
  },
];

/** Runs it with this number of ranks, and judges its records as the page does. */
export async function plantedVerdict(
  home: GradwireHome,
  ranks: number,
  { settings, slowRank = false }: PlantedCause,
): Promise<{ readonly verdict: Verdict; readonly records: readonly RunRecord[] }> {
  const command = home.start([
    ...['run', 'quickstart', '--json', '--set', `world.ranks=${ranks}`],
    ...['evaluateEvery=0', ...settings].flatMap((setting) => ['--set', setting]),
  ]);
  let pulse: NodeJS.Timeout | undefined;
  if (slowRank) {
    const { processes } = await command.record('started');
    await command.record('iteration');
    pulse = slowDown(processes[0]!.pid, () =>
      command.records.some(({ type }) => type === 'done'),
    );
  }
  try {
    succeeded(await command.finished);
  } finally {
    clearInterval(pulse);
  }
  return { verdict: verdictOn(command.records, ranks), records: command.records };
}

export function verdictOn(records: readonly RunRecord[], ranks: number): Verdict {
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
  return verdict(summary, verdictContext({ events, ranks, nodes: [] }))!;
}

/** Milliseconds that a slow rank runs and then stands still. */
const RUNS = 15;
const STANDS = 60;

/** Stops a process again and again, for four fifths of the time. */
function slowDown(pid: number, isOver: () => boolean): NodeJS.Timeout {
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It may end before its last record is read.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return setInterval(() => {
    if (isOver()) return;
    signal('SIGSTOP');
    setTimeout(() => {
      signal('SIGCONT');
    }, STANDS);
  }, RUNS + STANDS);
}
