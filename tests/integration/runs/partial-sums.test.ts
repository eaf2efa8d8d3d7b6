/** Training where the collective keeps k entries of the sum, beside one that keeps all. */
import { expect, it } from 'vitest';
import type { DoneRecord, IterationRecord } from '../../../src/shared/records.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const RANKS = 4;
const ITERATIONS = 150;
/** 1 % of the model's parameters. */
const K = 1993;

interface Training {
  readonly loss: number;
  readonly done: DoneRecord;
  /** Of a rank in an iteration: bytes that it sent, framing excluded; entries of the sum. */
  readonly sent: readonly number[];
  readonly entries: readonly number[];
}

async function train(collective: string): Promise<Training> {
  await using home = new GradwireHome();
  const command = home.start([
    ...['run', 'quickstart', '--json', '--set', `iterations=${ITERATIONS}`],
    ...['--set', `world.ranks=${RANKS}`, '--set', 'exchange.method=topk'],
    ...['--set', 'exchange.ratio=0.01', '--set', `exchange.collective=${collective}`],
  ]);
  const { code, stderr } = await command.finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { records } = command;
  const iterations = records.filter(
    (one): one is IterationRecord => one.type === 'iteration',
  );
  const last = iterations.filter(({ iteration }) => iteration >= ITERATIONS - 10);
  return {
    loss: mean(last.map(({ loss }) => loss)),
    done: records.find((record) => record.type === 'done')!,
    sent: iterations.map(({ bytes }) => bytes.wireSent - bytes.framingSent),
    entries: iterations.map(({ nnzReduced }) => nnzReduced!),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

it('learns as well as with whole sums, for less than half of the bytes', async () => {
  const whole = await train('ssar-split-allgather');
  const partial = await train('ok-topk');
  for (const { done } of [whole, partial]) expect(done.consistent).toBe(true);
  // From 2.1 at the start.
  expect(whole.loss).toBeLessThan(0.3);
  expect(partial.loss).toBeLessThan(0.3);
  expect(Math.abs(partial.done.metric! - whole.done.metric!)).toBeLessThan(0.05);
  // A sum of four ranks' entries has three times as many; of these about k are kept.
  expect(mean(whole.entries)).toBeGreaterThan(3 * K);
  expect(mean(partial.entries)).toBeGreaterThan(0.8 * K);
  expect(mean(partial.entries)).toBeLessThan(1.25 * K);
  expect(Math.max(...partial.entries)).toBeLessThanOrEqual(2 * K);
  expect(mean(partial.sent)).toBeLessThan(0.5 * mean(whole.sent));
});
