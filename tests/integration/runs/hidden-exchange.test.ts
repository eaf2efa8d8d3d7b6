/** Exchanges that go on while the trainer computes: the same gradient, or the next. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { effort } from '../../harness/effort.ts';
import { ofType } from '../../harness/records.ts';
import { trainerOptions } from '../../unit/training/train-together.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const WORKLOAD = [
  ...['backend=wasm', 'world.ranks=2', 'workload.batchPerRank=16'],
  ...['iterations=12', 'evaluateEvery=5'],
];

async function run(settings: readonly string[], switches: readonly string[] = []) {
  const records = await node.quickstart([...WORKLOAD, ...settings], switches);
  const [done] = ofType(records, 'done');
  return {
    records,
    iterations: ofType(records, 'iteration').toSorted(
      (a, b) => a.iteration - b.iteration || a.rank - b.rank,
    ),
    weights: done!.weights,
    notices: ofType(records, 'notice').map(({ code }) => code),
  };
}

const sumOf = (phases: object): number =>
  Object.values(phases).reduce((sum: number, time: number) => sum + time, 0);

test('overlap changes no bit of the result, with any compression and switches', async () => {
  // Buckets of one tensor and more; a bucket of tensors that lie apart; replicas that drift.
  const settings = [
    ...['exchange.method=topk', 'exchange.ratio=0.02', 'exchange.bucketBytes=2000'],
    'exchange.layers=[{match: "*bias", method: none}]',
  ];
  const switches = ['4:method=a2sgd,granularity=bucket', '8:method=qsgd'];
  const plain = await run([...settings, 'compareEvery=3'], switches);
  const overlapping = await run(
    [...settings, 'compareEvery=3', 'overlap=true'],
    switches,
  );
  expect(overlapping.weights).toBe(plain.weights);
  expect(overlapping.iterations.map(({ loss }) => loss)).toEqual(
    plain.iterations.map(({ loss }) => loss),
  );
  expect(ofType(overlapping.records, 'comparison').map(({ error }) => error)).toEqual(
    ofType(plain.records, 'comparison').map(({ error }) => error),
  );
  expect(overlapping.notices).not.toContain('OVERLAP_IDLE');
  for (const { phases, staleness, wall } of overlapping.iterations) {
    expect(staleness).toBeUndefined();
    expect(sumOf(phases)).toBeCloseTo(wall, 6);
  }
});

test('overlap of a single bucket is said to do nothing', { tags: 'soak' }, async () => {
  const { notices } = await run(['exchange.method=none', 'overlap=true']);
  expect(notices.filter((code) => code === 'OVERLAP_IDLE')).toHaveLength(1);
});

/** Two ranks of plain SGD, each gradient applied when the next has been computed. */
async function lateLosses(iterations: number, lr: number): Promise<number[]> {
  const shape = { dataset: 'digits', world: 2, batchPerRank: 16, lr, iterations };
  const trainers: Trainer[] = [];
  for (const rank of [0, 1]) {
    trainers.push(
      await createTrainer({
        ...trainerOptions(shape, rank),
        optimizer: { kind: 'sgd', lr, momentum: 0, schedule: 'constant' },
      }),
    );
  }
  const { length } = trainers[0]!;
  let late: Float32Array | undefined;
  const losses: number[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const mean = new Float32Array(length);
    for (const trainer of trainers) {
      const gradient = new Float32Array(length);
      trainer.loadBatch(iteration);
      losses.push((await trainer.computeGradient(gradient)).loss!);
      for (let i = 0; i < length; i++) mean[i]! += gradient[i]! / 2;
    }
    if (late !== undefined) {
      for (const trainer of trainers) await trainer.applyGradient(late, iteration);
    }
    late = mean;
  }
  for (const trainer of trainers) trainer.close();
  return losses;
}

test(
  'doubleBuffer applies each gradient one iteration late, and says so',
  { tags: 'soak' },
  async () => {
    const plain = ['exchange.method=none', 'optimizer.momentum=0', 'optimizer.lr=0.1'];
    const { iterations, notices } = await run([...plain, 'doubleBuffer=true']);
    const expected = await lateLosses(12, 0.1);
    expect(iterations).toHaveLength(expected.length);
    for (const [i, { loss, phases, rank, staleness, wall }] of iterations.entries()) {
      expect(loss, `iteration ${i >> 1}, rank ${rank}`).toBeCloseTo(expected[i]!, 5);
      expect(staleness).toBe(i < 2 ? undefined : 1);
      expect(sumOf(phases)).toBeCloseTo(wall, 6);
    }
    expect(notices.filter((code) => code === 'GRADIENTS_STALE')).toHaveLength(1);
    const inTime = await run(plain);
    expect(inTime.iterations[4]!.loss).not.toBeCloseTo(iterations[4]!.loss!, 3);
  },
);

const MISFITS = [
  [['overlap=true', 'engine=inline'], 'engine: thread'],
  [['overlap=true', 'doubleBuffer=true'], 'Set one of them.'],
  [['doubleBuffer=true', 'engine=inline'], 'engine: thread'],
] as const;

test.each(MISFITS.slice(0, effort({ quick: 1, soak: 3 })))(
  '%j is refused',
  async (settings, next) => {
    const command = node.home.startQuickstart([...WORKLOAD, ...settings]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(2);
    expect(stderr).toContain('OVERLAP_MISFIT');
    expect(stderr).toContain(next);
  },
);
