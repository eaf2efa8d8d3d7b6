/** Training where the collective keeps k entries of the sum, beside whole sums. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SwitchRequest } from '../../../src/shared/protocol/supervisor.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { effort } from '../../harness/effort.ts';
import { SupervisorNode } from './supervisor-node.ts';

/** 1 % of the model's parameters. */
const K = 1993;
const SWITCHED = effort({ quick: 60, soak: 150 });
const ITERATIONS = SWITCHED + 6;

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

interface Training {
  /** At the start, and before the switch. */
  readonly losses: readonly [number, number];
  readonly done: DoneRecord;
  readonly iterations: readonly IterationRecord[];
}

async function train(
  collective: string,
  switches: readonly SwitchRequest[] = [],
): Promise<Training> {
  const records = await node.train(
    {
      world: { ranks: 4 },
      iterations: ITERATIONS,
      exchange: { method: 'topk', ratio: 0.01, collective },
    },
    switches,
  );
  const done = records.at(-1) as DoneRecord;
  expect(done).toMatchObject({ type: 'done', consistent: true });
  const iterations = records.filter((record) => record.type === 'iteration');
  const lossIn = (from: number, to: number): number =>
    mean(
      iterations
        .filter(({ iteration }) => iteration >= from && iteration < to)
        .map(({ loss }) => loss!),
    );
  return { done, iterations, losses: [lossIn(0, 3), lossIn(SWITCHED - 10, SWITCHED)] };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Bytes that a rank sent in an iteration, framing excluded; entries of the sum. */
const sent = (records: readonly IterationRecord[]): number =>
  mean(records.map(({ bytes }) => bytes.wireSent! - bytes.framingSent!));
const entries = (records: readonly IterationRecord[]): readonly number[] =>
  records.map(({ nnzReduced }) => nnzReduced!);

it(
  'learns, for less than half of the bytes of whole sums',
  { tags: 'soak' },
  async () => {
    const { losses, iterations } = await train('ok-topk', [
      { at: SWITCHED, change: { collective: 'ssar-split-allgather' } },
    ]);
    expect(losses[1]).toBeLessThan(0.5 * losses[0]);
    // The threshold is sought in the first ones.
    const partial = iterations.filter(
      ({ epoch, iteration }) => epoch === 0 && iteration >= SWITCHED / 2,
    );
    const whole = iterations.filter(({ epoch }) => epoch === 1);
    // A sum of four ranks' entries has three times as many; of these about k are kept.
    expect(mean(entries(whole))).toBeGreaterThan(3 * K);
    expect(mean(entries(partial))).toBeGreaterThan(0.8 * K);
    expect(mean(entries(partial))).toBeLessThan(1.25 * K);
    for (const { epoch, nnzReduced } of iterations) {
      if (epoch === 0) expect(nnzReduced).toBeLessThanOrEqual(2 * K);
    }
    expect(sent(partial)).toBeLessThan(0.5 * sent(whole));
  },
);

it.each(effort({ quick: [], soak: ['ssar-split-allgather'] }))(
  'learns as well as with the whole sums of %s',
  async (collective) => {
    const whole = await train(collective);
    const partial = await train('ok-topk');
    // From 2.1 at the start.
    expect(whole.losses[1]).toBeLessThan(0.3);
    expect(partial.losses[1]).toBeLessThan(0.3);
    expect(Math.abs(partial.done.metric! - whole.done.metric!)).toBeLessThan(0.05);
  },
);
