/** Training by real processes of which some are servers too, beside flat collectives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SwitchRequest } from '../../../src/shared/protocol/supervisor.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { SwitchRecord } from '../../../src/shared/records/switch.ts';
import { effort } from '../../harness/effort.ts';
import { SupervisorNode } from './supervisor-node.ts';

const RANKS = 3;
const ITERATIONS = 30;
/** Bytes of the model's gradient. */
const DENSE = 4 * 199_210;

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

interface Training {
  readonly iterations: readonly IterationRecord[];
  readonly switches: readonly SwitchRecord[];
}

/** To the end: equal replicas, no notice of a ledger that does not balance. */
async function train(
  exchange: Readonly<Record<string, unknown>>,
  schedule: readonly SwitchRequest[] = [],
): Promise<Training> {
  const settings = { world: { ranks: RANKS }, iterations: ITERATIONS, exchange };
  const records = await node.train(settings, schedule);
  const done = records.at(-1) as DoneRecord;
  expect(done).toMatchObject({
    type: 'done',
    iterations: ITERATIONS,
    consistent: true,
  });
  const codes = records.flatMap((one) => (one.type === 'notice' ? [one.code] : []));
  expect(codes).not.toContain('LEDGER_UNBALANCED');
  const iterations = records
    .filter((record) => record.type === 'iteration')
    .toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank);
  expect(iterations).toHaveLength(RANKS * ITERATIONS);
  const switches = records.filter((record) => record.type === 'switch');
  return { iterations, switches };
}

function expectSameLosses(seen: Training, expected: Training): void {
  for (const [index, { rank, iteration, loss }] of seen.iterations.entries()) {
    const off = Math.abs(loss! - expected.iterations[index]!.loss!);
    expect(off, `rank ${rank}, iteration ${iteration}`).toBeLessThanOrEqual(1e-6);
  }
}

/** What a rank sends in an iteration, in gradients, framing and control aside. */
const sentBy = ({ iterations }: Training, rank: number): readonly number[] =>
  iterations
    .filter((record) => record.rank === rank)
    .map(({ bytes }) => (bytes.wireSent! - bytes.framingSent!) / DENSE);

const EXCHANGES: readonly [{ method: string; ratio?: number }, string, string][] = [
  [{ method: 'none' }, 'ring', 'none'],
  [{ method: 'topk', ratio: 0.01 }, 'ssar-recursive-doubling', 'kept'],
];

describe.each(effort({ quick: EXCHANGES.slice(0, 1), soak: EXCHANGES }))(
  '%j',
  (exchange, flat, residual) => {
    const collective = 'parameter-server';
    let expected: Training;
    beforeAll(async () => {
      expected = await train({ ...exchange, collective: flat });
    });

    it.each(effort({ quick: [2], soak: [1, 2] }))(
      `with S = %i has the losses of ${flat}`,
      async (servers) => {
        const seen = await train({ ...exchange, collective, servers });
        expectSameLosses(seen, expected);
        expect(new Set(seen.iterations.map((record) => record.collective))).toEqual(
          new Set([collective]),
        );
        if (exchange.method !== 'none') return;
        // A server sends what it has of other shards, and each sum of its own twice.
        const load = { 1: [2, 1, 1], 2: [1.5, 1.5, 1] }[servers]!;
        for (const [rank, gradients] of load.entries()) {
          for (const sent of sentBy(seen, rank)) expect(sent).toBeCloseTo(gradients, 2);
        }
      },
    );

    it(
      'has them through a switch to servers, to more of them, and back',
      { tags: 'soak' },
      async () => {
        const seen = await train({ ...exchange, collective: flat }, [
          { at: 8, change: { collective } },
          { at: 15, change: { servers: RANKS } },
          { at: 22, change: { collective: flat } },
        ]);
        expectSameLosses(seen, expected);
        expect(
          seen.switches.map(({ fence, to }) => [fence, to.collective, to.servers]),
        ).toEqual([
          [8, collective, 1],
          [15, collective, RANKS],
          [22, flat, undefined],
        ]);
        for (const record of seen.switches) {
          expect(record).toMatchObject({ residual, state: 'none' });
        }
      },
    );
  },
);
