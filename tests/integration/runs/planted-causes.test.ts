/**
 * The page's verdict on real runs whose bottleneck is known, because it was planted: a slow
 * link, bytes that are gone already, a slow rank.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import {
  hasRefutedCompression,
  linkTimePerByte,
} from '../../../src/shared/verdict/verdict-context.ts';
import { verdict } from '../../../src/shared/verdict/verdict.ts';
import { summarizeWindow } from '../../../src/shared/verdict/window-summary.ts';
import type { RunRecord, RunEvent } from '../../../src/shared/records/record-kinds.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(() => home[Symbol.asyncDispose]());

const RANKS = 2;
const FIRST = 5;

const start = (settings: readonly string[]) =>
  home.start([
    ...['run', 'quickstart', '--json', '--set', `world.ranks=${RANKS}`],
    ...['evaluateEvery=0', ...settings].flatMap((setting) => ['--set', setting]),
  ]);

/** The last statement of the verdict on all iterations but the first ones. */
function gainOf(records: readonly RunRecord[]): string {
  const recent = new RecentIterations(RANKS, 512);
  for (const record of ofType(records, 'iteration')) recent.add(record);
  const summary = summarizeWindow(recent, FIRST, recent.newest + 1)!;
  const events = records.filter(
    (record): record is RunEvent =>
      record.type !== 'iteration' && record.type !== 'log',
  );
  return verdict(summary, {
    ranks: RANKS,
    linkTime: linkTimePerByte(events),
    doesNotPay: hasRefutedCompression(events),
  }).at(-1)!.text;
}

const factorOf = (text: string): number => Number(/at most ([\d.]+)×/.exec(text)?.[1]);

async function gainIn(settings: readonly string[]): Promise<string> {
  const command = start(settings);
  succeeded(await command.finished);
  return gainOf(command.records);
}

// 797 kB at 50 Mbit/s take 128 ms; a step computes for some 10 ms.
const SLOW_LINK = 'network={bandwidth: 50 Mbit/s, latency: 50 µs}';
// At 100 Gbit/s they take 64 µs.
const FAST_LINK = 'network={bandwidth: 100 Gbit/s, latency: 50 µs}';

test('a slow link is what a smaller payload helps with', async () => {
  const text = await gainIn([SLOW_LINK, 'exchange.method=none', 'iterations=12']);
  expect(factorOf(text)).toBeGreaterThan(2);
});

test('what is left of the payload bounds what more compression can gain', async () => {
  const text = await gainIn([
    ...[SLOW_LINK, 'iterations=40', 'exchange.method=topk', 'exchange.ratio=0.0001'],
    'exchange.minElements=0',
  ]);
  expect(text).toMatch(/not speed up the step|at most 1\.\d/);
});

test('waiting for a slow rank is not for compression to shorten', async () => {
  const command = start([FAST_LINK, 'exchange.method=none', 'iterations=60']);
  const { processes } = await command.record('started');
  await command.record('iteration');
  // It computes for half of the time.
  const slow = processes[0]!;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(slow.pid, name);
    } catch (error) {
      // It may end before its last record is read.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  let stopped = false;
  const pulse = setInterval(() => {
    if (command.records.some(({ type }) => type === 'done')) return;
    stopped = !stopped;
    signal(stopped ? 'SIGSTOP' : 'SIGCONT');
  }, 20);
  try {
    succeeded(await command.finished);
  } finally {
    clearInterval(pulse);
  }
  const text = gainOf(command.records);
  expect(text).toMatch(/not speed up the step|at most 1\.\d/);
  const waits = ofType(command.records, 'iteration').map(({ phases }) => phases.wait);
  expect(Math.max(...waits)).toBeGreaterThan(10);
});
