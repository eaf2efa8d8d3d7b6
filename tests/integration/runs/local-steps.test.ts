/** Local steps: ranks on their own for H iterations, then one exchange of how far they moved. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import { ofType } from '../../harness/records.ts';
import { trainerOptions } from '../../unit/training/train-together.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const WORKLOAD = [
  ...['backend=wasm', 'workload.batchPerRank=16', 'optimizer.lr=0.05'],
  ...['evaluateEvery=0', 'exchange.method=none'],
];
const LOCAL = 'parallelism.kind=local-steps';
const AVERAGE = 'parallelism.outer={lr: 1, momentum: 0}';

const start = (settings: readonly string[], switches: readonly string[] = []) =>
  node.home.start([
    ...['run', 'quickstart', '--json'],
    ...switches.flatMap((change) => ['--switch', change]),
    ...[...WORKLOAD, ...settings].flatMap((setting) => ['--set', setting]),
  ]);

async function run(settings: readonly string[], switches: readonly string[] = []) {
  const records = await node.quickstart([...WORKLOAD, ...settings], switches);
  return {
    records,
    iterations: ofType(records, 'iteration').toSorted(
      (a, b) => a.iteration - b.iteration || a.rank - b.rank,
    ),
    done: ofType(records, 'done')[0]!,
  };
}

type Ran = Awaited<ReturnType<typeof run>>;
const lossesOf = ({ iterations }: Ran): (number | undefined)[] =>
  iterations.map(({ loss }) => loss);

test.each(effort({ quick: [3], soak: [2, 3] }))(
  'an exchange after each step, averaged, is the synchronous run of %i ranks',
  async (ranks) => {
    const settings = [`world.ranks=${ranks}`, 'iterations=25'];
    const together = await run(settings);
    const local = await run([...settings, LOCAL, 'parallelism.every=1', AVERAGE]);
    expect(local.done).toMatchObject({ consistent: true, iterations: 25 });
    for (const [index, loss] of lossesOf(together).entries()) {
      expect(Math.abs(local.iterations[index]!.loss! - loss!)).toBeLessThan(2e-6);
    }
  },
);

/** What local steps are, by the book: SGD on each rank, Nesterov's momentum on the mean. */
async function byTheBook(shape: {
  readonly world: number;
  readonly iterations: number;
  readonly every: number;
  readonly lr: number;
  readonly momentum: number;
}): Promise<number[]> {
  const { every, iterations, lr, momentum, world } = shape;
  const small = { dataset: 'digits', batchPerRank: 16, lr: 0.05, world, iterations };
  const trainers: Trainer[] = [];
  for (let rank = 0; rank < world; rank++) {
    trainers.push(await createTrainer(trainerOptions(small, rank)));
  }
  const { length } = trainers[0]!;
  const weightsOf = async (trainer: Trainer): Promise<Float64Array> => {
    const weights = new Float32Array(length);
    await trainer.readWeights(weights);
    return Float64Array.from(weights);
  };
  const shared = await weightsOf(trainers[0]!);
  const velocity = new Float64Array(length);
  const losses: number[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (const trainer of trainers) {
      const gradient = new Float32Array(length);
      trainer.loadBatch(iteration);
      losses.push((await trainer.computeGradient(gradient)).loss!);
      await trainer.applyGradient(gradient, iteration);
    }
    if ((iteration + 1) % every !== 0 && iteration + 1 < iterations) continue;
    const all = await Promise.all(trainers.map(weightsOf));
    for (let i = 0; i < length; i++) {
      const mean = all.reduce((sum, weights) => sum + weights[i]!, 0) / world;
      const moved = shared[i]! - mean;
      velocity[i] = momentum * velocity[i]! + moved;
      shared[i]! -= lr * (moved + momentum * velocity[i]!);
    }
    for (const trainer of trainers)
      await trainer.writeWeights(Float32Array.from(shared));
  }
  for (const trainer of trainers) trainer.close();
  return losses;
}

test(
  'are SGD on each rank and Nesterov’s momentum on what all moved',
  { tags: 'soak' },
  async () => {
    const shape = { world: 2, iterations: 26, every: 4, lr: 0.7, momentum: 0.5 };
    const outer = `parallelism.outer={lr: ${shape.lr}, momentum: ${shape.momentum}}`;
    const ran = await run([
      ...['world.ranks=2', `iterations=${shape.iterations}`, 'optimizer.momentum=0.9'],
      ...[LOCAL, `parallelism.every=${shape.every}`, outer],
    ]);
    const expected = await byTheBook(shape);
    expect(ran.iterations).toHaveLength(expected.length);
    for (const [index, { iteration, loss }] of ran.iterations.entries()) {
      expect(loss, `iteration ${iteration}`).toBeCloseTo(expected[index]!, 4);
    }
  },
);

test('send in one iteration of every few, and in the last; phases add up in all', async () => {
  const { done, iterations, records } = await run([
    ...['world.ranks=2', 'iterations=23', LOCAL, 'parallelism.every=5'],
    ...['exchange.method=topk', 'exchange.ratio=0.05', 'compareEvery=10'],
    ...['inspectEvery=3', 'evaluateEvery=7'],
  ]);
  const exchanges = [4, 9, 14, 19, 22];
  for (const { bytes, exchanged, iteration, nnzLocal, phases, wall } of iterations) {
    const isOne = exchanges.includes(iteration);
    expect(exchanged, `iteration ${iteration}`).toBe(isOne ? undefined : false);
    expect(bytes.payload! > 0).toBe(isOne);
    expect(bytes.wireSent! > 0).toBe(isOne);
    expect(nnzLocal).toBe(isOne ? Math.ceil(0.05 * 199_210) : undefined);
    const sum = sumPhases(phases);
    expect(sum).toBeCloseTo(wall, 6);
  }
  expect(done.consistent).toBe(true);
  const at = (type: 'buckets' | 'comparison' | 'evaluation') =>
    ofType(records, type).map(({ iteration }) => iteration);
  // What falls due between exchanges is done at the next.
  expect(at('comparison')).toEqual([9, 19]);
  expect(at('buckets')).toEqual([4, 9, 14, 19, 22]);
  expect(at('evaluation')).toEqual([6, 13, 20, 22]);
  // Between exchanges replicas differ: they are evaluated twice.
  const averaged = ofType(records, 'evaluation').map(
    (one) => one.averaged !== undefined,
  );
  expect(averaged).toEqual([true, true, true, false]);
});

test('a switch waits for the next exchange and counts exchanges', async () => {
  const { done, records } = await run(
    [
      ...['world.ranks=3', 'iterations=40', LOCAL, 'parallelism.every=5', AVERAGE],
      ...['exchange.method=topk', 'exchange.ratio=0.05'],
    ],
    ['12:method=scalecom,ratio=0.05,warmupIterations=2', '21:method=dct,lifeSpan=2'],
  );
  const switches = ofType(records, 'switch');
  expect(switches.map(({ fence }) => fence)).toEqual([15, 25]);
  // The third exchange is over at iteration 15.
  expect(switches[0]!.to.parameters).toMatchObject({ warmupStart: 3 });
  const sent = (iteration: number): number =>
    ofType(records, 'iteration').find(
      (record) => record.rank === 0 && record.iteration === iteration,
    )!.bytes.payload!;
  // Two exchanges of the warm-up, the dense ones: after iterations 19 and 24.
  expect([sent(19), sent(24)]).toEqual([4 * 199_210, 4 * 199_210]);
  const refreshes = ofType(records, 'iteration')
    .filter(({ rank, thresholdRefreshes = 0 }) => rank === 0 && thresholdRefreshes > 0)
    .map(({ iteration }) => iteration);
  // A life of two exchanges from the first of the method on.
  expect(refreshes).toEqual(expect.arrayContaining([29, 39]));
  expect(done).toMatchObject({ consistent: true, iterations: 40 });
});

test(
  'replicas that drift are averaged at an exchange, with their outer momentum',
  { tags: 'soak' },
  async () => {
    const { done, records } = await run([
      ...['world.ranks=2', 'iterations=30', LOCAL, 'parallelism.every=4'],
      ...[
        'exchange.method=a2sgd',
        'exchange.resyncEvery=10',
        'exchange.divergenceEvery=6',
      ],
    ]);
    expect(ofType(records, 'divergence').length).toBeGreaterThan(0);
    expect(done.consistent).toBe(true);
    expect(done.loss).toBeLessThan(2.5);
  },
);

test(
  'a run that is asked to stop ends with the next exchange',
  { tags: 'soak' },
  async () => {
    const command = start([
      ...['world.ranks=2', 'iterations=1000000', LOCAL, 'parallelism.every=50'],
    ]);
    await command.record('iteration', ({ iteration }) => iteration >= 60);
    command.child.kill('SIGINT');
    await command.record('done');
    expect((await command.finished).stderr).toContain('at most 50 iterations from now');
    const [done] = ofType(command.records, 'done');
    expect(done).toMatchObject({ reason: 'stopped', consistent: true });
    expect(done!.iterations % 50).toBe(0);
  },
);

describe('what does not go together', () => {
  test(
    'a switch behind the last exchange that has steps after it',
    { tags: 'soak' },
    async () => {
      const settings = [LOCAL, 'iterations=20', 'parallelism.every=8'];
      const { code, stderr } = await start(settings, ['17:method=topk']).finished;
      expect(code).toBe(2);
      expect(stderr).toContain('SWITCH_TOO_LATE');
      expect(stderr).toContain('exchanges every 8');
      expect(stderr).toContain('below 17');
      const { done, records } = await run(settings, ['16:method=topk']);
      expect(ofType(records, 'switch').map(({ fence }) => fence)).toEqual([16]);
      expect(done.iterations).toBe(20);
    },
  );

  test(
    'a switch to a method that has momentum within it',
    { tags: 'soak' },
    async () => {
      const { code, stderr } = await start([LOCAL, 'iterations=20'], ['5:method=dgc'])
        .finished;
      expect(code).toBe(2);
      expect(stderr).toContain('METHOD_OPTIMIZER_MISFIT');
      expect(stderr).toContain('parallelism.kind: synchronous');
    },
  );
});

test(
  'a loss that is no number ends the run in the iteration that has it',
  { tags: 'soak' },
  async () => {
    const command = start([
      ...['world.ranks=2', 'iterations=40', LOCAL, 'parallelism.every=20'],
      'optimizer.lr=1e20',
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/LOSS_NOT_FINITE|GRADIENT_NOT_FINITE/);
    expect(stderr).toMatch(/iteration \d\b/);
  },
);
