/** Models split into stages, of which each is a rank: alone, and several pipelines at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import { effort } from '../../harness/effort.ts';
import { succeeded } from '../../harness/gradwire.ts';
import { ofType, type OfType } from '../../harness/records.ts';
import { directoryOf, idxBytes } from '../../unit/training/idx-fixtures.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const WORKLOAD = [
  ...['backend=wasm', 'workload.batchPerRank=16', 'optimizer.lr=0.05'],
  ...['evaluateEvery=0', 'exchange.method=none', 'iterations=20'],
];
const split = (...layers: readonly string[]): string =>
  `parallelism.pipeline.splitAfter=${JSON.stringify(layers)}`;
const MICRO = 'parallelism.pipeline.microBatches';

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
    evaluations: ofType(records, 'evaluation'),
    done: ofType(records, 'done')[0]!,
  };
}
type Ran = Awaited<ReturnType<typeof run>>;

/** Those of the ranks that have one, iteration by iteration. */
const lossesOf = ({ iterations }: Ran): readonly number[] =>
  iterations.flatMap(({ loss }) => loss ?? []);

function expectClose(
  found: readonly number[],
  expected: readonly number[],
  by: number,
) {
  expect(found).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) {
    expect(Math.abs(found[i]! - value), `value ${i}`).toBeLessThan(by);
  }
}

describe('without compression', () => {
  test('two pipelines are two ranks', { tags: 'soak' }, async () => {
    const plain = await run(['world.ranks=2', 'evaluateEvery=7']);
    const splits = [['layer1', 'layer2'], ['layer2']];
    for (const layers of splits.slice(0, effort({ quick: 1, soak: 2 }))) {
      const ranks = 2 * (layers.length + 1);
      const settings = [`world.ranks=${ranks}`, split(...layers), 'evaluateEvery=7'];
      const piped = await run([...settings, 'compareEvery=5', 'inspectEvery=6']);
      expectClose(lossesOf(piped), lossesOf(plain), 1e-4);
      const accuracy = (ran: Ran) => ran.evaluations.map(({ metric }) => metric!);
      expectClose(accuracy(piped), accuracy(plain), 0.01);
      expect(piped.evaluations.map(({ samples }) => samples)).toEqual(
        plain.evaluations.map(({ samples }) => samples),
      );
      expect(piped.done).toMatchObject({ consistent: true, reason: 'completed' });
      expect(Math.abs(piped.done.loss! - plain.done.loss!)).toBeLessThan(1e-4);
      const [started] = ofType(piped.records, 'started');
      expect(started!.parameters).toBe(199_210);
      for (const { bound, cosine, error } of ofType(piped.records, 'comparison')) {
        expect(bound).toBeUndefined();
        expect(cosine).toBeCloseTo(1, 6);
        expect(error).toBe(0);
      }
      expect(ofType(piped.records, 'notice').map(({ code }) => code)).not.toContain(
        'LEDGER_UNBALANCED',
      );
    }
  });

  test(
    'two pipelines of two stages are one rank with all samples in a batch',
    { tags: 'soak' },
    async () => {
      const data = directoryOf({
        'train-images-idx3-ubyte': idxBytes([48, 28, 28], 251),
        'train-labels-idx1-ubyte': idxBytes([48], 10),
        't10k-images-idx3-ubyte': idxBytes([8, 28, 28], 241),
        't10k-labels-idx1-ubyte': idxBytes([8], 10),
      });
      const samples = ['workload.dataset=mnist', `workload.data=${data}`];
      const alone = await run([
        ...[...samples, 'world.ranks=1', 'workload.batchPerRank=48'],
      ]);
      const hybrid = await run([
        ...[...samples, 'world.ranks=4', 'workload.batchPerRank=24'],
        ...[split('layer1'), `${MICRO}=3`],
      ]);
      const halves = lossesOf(hybrid);
      const means = lossesOf(alone).map(
        (_, i) => (halves[2 * i]! + halves[2 * i + 1]!) / 2,
      );
      expectClose(means, lossesOf(alone), 1e-4);
      expect(lossesOf(alone).at(-1)).toBeLessThan(0.7 * lossesOf(alone)[0]!);
    },
  );

  test(
    'a transformer whose first and last stage share a tensor',
    { tags: 'soak' },
    async () => {
      const settings = [
        ...['workload.model=transformer-small', 'workload.dataset=sentences'],
        ...['workload.batchPerRank=4', 'iterations=3', 'exchange.method=topk'],
      ];
      const plain = await run([...settings, 'world.ranks=1', 'exchange.ratio=1']);
      const piped = await run([
        ...[...settings, 'world.ranks=3', 'exchange.ratio=1'],
        ...[split('layer1', 'layer2'), `${MICRO}=2`],
      ]);
      expectClose(lossesOf(piped), lossesOf(plain), 1e-4);
    },
  );

  test(
    'local steps of pipelines are local steps of ranks',
    { tags: 'soak' },
    async () => {
      const settings = ['parallelism.kind=local-steps', 'parallelism.every=3'];
      const plain = await run([...settings, 'world.ranks=2']);
      const piped = await run([...settings, 'world.ranks=4', split('layer1')]);
      expectClose(lossesOf(piped), lossesOf(plain), 1e-4);
      expect(piped.done.consistent).toBe(true);
    },
  );
});

/** Of FNN-3 after its first layer, a batch of 16. */
const WIDTH = 200;
const DENSE = 4 * 16 * WIDTH;

describe('what a stage records', () => {
  test.each(effort({ quick: ['thread'], soak: ['thread', 'inline'] }))(
    'has phases that add up (engine: %s)',
    async (engine) => {
      const { iterations } = await run([
        ...['world.ranks=2', split('layer1'), `engine=${engine}`, `${MICRO}=4`],
        // What evaluations pass between stages is no part of an iteration.
        ...['exchange.activations={method: dct-mp, sparsity: 0.9}', 'evaluateEvery=3'],
      ]);
      expect(iterations).toHaveLength(2 * 20);
      for (const { activations, bytes, loss, phases, rank, wall } of iterations) {
        expect(sumPhases(phases) / wall).toBeCloseTo(1, 6);
        expect(phases.compute).toBe(0);
        expect(phases.backward).toBeGreaterThan(0);
        expect(phases.activations).toBeGreaterThan(0);
        // The last stage computes both passes at once.
        expect(phases.forward! > 0).toBe(rank === 0);
        expect(loss === undefined).toBe(rank === 0);
        const values = 4 * 16 * 20;
        const units = 16 * (WIDTH / 8);
        expect(activations).toEqual({
          dense: DENSE,
          payload: rank === 0 ? values + units : values,
        });
        // Four messages, and what ranks agree on.
        expect(bytes.wireSent! - bytes.framingSent!).toBeGreaterThan(
          activations!.payload,
        );
        expect(bytes.wireSent).toBeLessThan(activations!.payload + 1000);
      }
    },
  );
});

describe('a switch in mid-run', () => {
  test(
    'changes what passes, and the method of gradients, of all stages',
    { tags: 'soak' },
    async () => {
      const { done, iterations, records } = await run(
        ['world.ranks=4', split('layer1'), 'exchange.activations.method=dct-mp'],
        [
          '5:activations=null',
          '10:activations.method=topk-backward,activations.sparsity=0.5,method=topk',
          '15:activations.method=gaussian-sketch,collective=sparse-ring',
        ],
      );
      expect(
        ofType(records, 'switch').map(({ fence, to }) => [fence, to.activations]),
      ).toEqual([
        [5, undefined],
        [10, { method: 'topk-backward', sparsity: 0.5 }],
        [15, { method: 'gaussian-sketch', sparsity: 0.5 }],
      ]);
      const sent = (at: number, rank: number) =>
        iterations.find((one) => one.iteration === at && one.rank === rank)!
          .activations!.payload;
      const bits = 16 * (WIDTH / 8);
      expect([sent(4, 0), sent(4, 1)]).toEqual([4 * 16 * 20 + bits, 4 * 16 * 20]);
      expect([sent(5, 2), sent(5, 3)]).toEqual([DENSE, DENSE]);
      // Pairs of an index and a value: half of the values is as much as all of them.
      expect([sent(10, 0), sent(10, 1)]).toEqual([DENSE, DENSE]);
      expect([sent(15, 0), sent(15, 1)]).toEqual([DENSE / 2, DENSE]);
      const dropped = ofType(records, 'notice').filter(
        ({ code }) => code === 'ACTIVATION_RESIDUAL_DROPPED',
      );
      expect(dropped.map(({ rank }) => rank)).toEqual([1]);
      expect(done).toMatchObject({ consistent: true, iterations: 20 });
      expect(new Set(iterations.slice(-4).map(({ epoch }) => epoch))).toEqual(
        new Set([3]),
      );
    },
  );
});

test('a split that does not fit is one line', async () => {
  const { code, stderr } = await start(['world.ranks=3', split('layer1')]).finished;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^gradwire: PIPELINE_MISFIT: 3 ranks .*\(world\.ranks\).*\n$/);
});

test('a plan of stages is not foretold as that of a whole model', async () => {
  const { code, stderr } = await node.home.run(['plan', 'digits-pipeline']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^gradwire: PLAN_PIPELINE: .*\n$/);
});

const LINKS = 'network={bandwidth: 10 Gbit/s, latency: 5 ms}';

describe('a stage that is lost', () => {
  test.each([0, 1, 2])(
    'ends the run, with the name of rank %i',
    { tags: 'soak' },
    async (rank) => {
      const command = start([
        ...['world.ranks=3', split('layer1', 'layer2'), 'iterations=100000', LINKS],
      ]);
      await command.record('iteration', ({ iteration }) => iteration >= 3);
      const [started] = ofType(command.records, 'started');
      process.kill(pidOf(started!, rank), 'SIGKILL');
      const { code } = await command.finished;
      expect(code).not.toBe(0);
      const [failed] = ofType(command.records, 'failed');
      expect(failed!.error).toMatchObject({ code: 'WORKER_DIED', rank });
    },
  );

  test(
    'comes back with the same bits, what was kept back of activations included',
    { tags: 'soak' },
    async () => {
      const settings = [
        ...['world.ranks=4', split('layer1'), 'onFailure=restart', 'iterations=36'],
        ...['checkpointEvery=10', 'exchange.method=topk', LINKS],
        'exchange.activations={method: topk-backward, sparsity: 0.8}',
      ];
      const whole = await run(settings);
      const cut = start(settings);
      await cut.record('iteration', ({ iteration }) => iteration >= 24);
      process.kill(pidOf(ofType(cut.records, 'started')[0]!, 1), 'SIGKILL');
      succeeded(await cut.finished);
      expect(ofType(cut.records, 'restarted')).toHaveLength(1);
      const [done] = ofType(cut.records, 'done');
      expect(done!.weights).toBe(whole.done.weights);
      expect(done!.loss).toBe(whole.done.loss);
    },
  );
});

const pidOf = ({ processes }: OfType<'started'>, rank: number): number =>
  processes.find((one) => one.rank === rank)!.pid;

test(
  'a network that diverges says where, and never hangs',
  { tags: 'soak' },
  async () => {
    const command = start([
      ...['world.ranks=4', split('layer1'), 'optimizer.lr=1e9', 'iterations=50'],
      'exchange.activations.method=dct-mp',
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/(ACTIVATION|GRADIENT|LOSS)_NOT_FINITE.*rank \d/);
  },
);

test(
  'stops when it is asked to, all stages after the same iteration',
  { tags: 'soak' },
  async () => {
    const command = start([
      'world.ranks=4',
      split('layer1'),
      'iterations=100000',
      LINKS,
    ]);
    await command.record('iteration', ({ iteration }) => iteration >= 3);
    command.child.kill('SIGINT');
    await command.finished;
    const last = new Map(
      ofType(command.records, 'iteration').map(({ iteration, rank }) => [
        rank,
        iteration,
      ]),
    );
    expect(new Set(last.values()).size).toBe(1);
    expect(ofType(command.records, 'done')[0]).toMatchObject({
      reason: 'stopped',
      consistent: true,
    });
  },
);
