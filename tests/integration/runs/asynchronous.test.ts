/** Asynchronous training by real processes: parameter servers with bounded staleness. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { succeeded } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { ofType, type OfType } from '../../harness/records.ts';
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
const parallel = (given: string): string =>
  `parallelism={kind: asynchronous, ${given}}`;

const start = (settings: readonly string[], switches: readonly string[] = []) =>
  node.home.start([
    ...['run', 'quickstart', '--json'],
    ...switches.flatMap((change) => ['--switch', change]),
    ...[...WORKLOAD, ...settings].flatMap((setting) => ['--set', setting]),
  ]);

type Iteration = OfType<'iteration'>;

const iterationsOf = ({
  records,
}: {
  readonly records: readonly RunRecord[];
}): readonly Iteration[] =>
  ofType(records, 'iteration').toSorted(
    (a, b) => a.iteration - b.iteration || a.rank - b.rank,
  );

async function run(settings: readonly string[], switches: readonly string[] = []) {
  const records = await node.quickstart([...WORKLOAD, ...settings], switches);
  return {
    records,
    iterations: iterationsOf({ records }),
    done: ofType(records, 'done')[0]!,
  };
}

/** Of any iteration of any rank. */
function mostApart(a: readonly Iteration[], b: readonly Iteration[]): number {
  expect(a.length).toBe(b.length);
  return Math.max(...a.map(({ loss }, index) => Math.abs(loss! - b[index]!.loss!)));
}

const ITERATIONS = 25;
/** Few entries: which is the k-th does not hang on how something was rounded. */
const TOP_K = ['exchange.method=topk', 'exchange.k=100'];
const SETTINGS = [
  { ranks: 2, servers: 1, settings: ['exchange.method=none'] },
  { ranks: 3, servers: 2, settings: TOP_K },
  {
    ranks: 2,
    servers: 2,
    settings: [...TOP_K, 'optimizer.nesterov=true', 'optimizer.weightDecay=0.01'],
  },
];

test.each(SETTINGS)(
  'without staleness it is synchronous training: $ranks ranks, $servers servers, $settings',
  { tags: 'soak' },
  async ({ ranks, servers, settings }) => {
    const common = [`world.ranks=${ranks}`, `iterations=${ITERATIONS}`, ...settings];
    const together = await run([...common, 'exchange.collective=auto']);
    const served = await run([
      ...[...common, parallel(`staleness: 0, servers: ${servers}`)],
    ]);
    expect(served.done).toMatchObject({ consistent: true, iterations: ITERATIONS });
    expect(mostApart(served.iterations, together.iterations)).toBeLessThan(1e-6);
    for (const { collective, phases, staleness, wall } of served.iterations) {
      expect({ collective, staleness }).toEqual({
        collective: 'parameter-server',
        staleness: undefined,
      });
      expect(sumPhases(phases)).toBeCloseTo(wall, 6);
    }
  },
);

test('the fast go ahead of a slow rank, no further than they may', async () => {
  const staleness = 3;
  const command = start([
    ...['world.ranks=3', 'iterations=90', 'timeoutSeconds=200'],
    ...['exchange.method=topk', parallel(`staleness: ${staleness}, servers: 2`)],
  ]);
  const { processes } = await command.record('started');
  await command.record('iteration', ({ iteration }) => iteration >= 10);
  const slow = processes.find(({ rank }) => rank === 2)!;
  process.kill(slow.pid, 'SIGSTOP');
  try {
    for (const fast of [0, 1]) {
      // It has the weights for one more by then: its record comes when the slow rank has.
      const ahead = ({ rank, staleness: by = 0 }: Iteration): boolean =>
        rank === fast && by === staleness - 1;
      await command.record('iteration', ahead);
    }
  } finally {
    process.kill(slow.pid, 'SIGCONT');
  }
  succeeded(await command.finished);
  const all = iterationsOf(command);
  expect(all).toHaveLength(3 * 90);
  expect(Math.max(...all.map((one) => one.staleness ?? 0))).toBe(staleness);
  const [done] = ofType(command.records, 'done');
  expect(done).toMatchObject({ consistent: true, iterations: 90 });
  expect(done!.loss).toBeLessThan(2);
});

test(
  'all meet for evaluations, for switches, and at the end',
  { tags: 'soak' },
  async () => {
    const { done, iterations, records } = await run(
      [
        ...['world.ranks=3', 'iterations=60', 'evaluateEvery=20', 'inspectEvery=10'],
        ...['exchange.method=topk', 'exchange.ratio=0.01', parallel('servers: 2')],
      ],
      ['25:method=qsgd', '41:method=none'],
    );
    expect(done).toMatchObject({ consistent: true, iterations: 60 });
    const evaluations = ofType(records, 'evaluation');
    expect(evaluations.map(({ iteration }) => iteration)).toEqual([19, 39, 59]);
    // There is one model: nothing is averaged to be evaluated.
    expect(evaluations.filter(({ averaged }) => averaged !== undefined)).toEqual([]);
    expect(ofType(records, 'switch').map(({ fence }) => fence)).toEqual([25, 41]);
    expect(ofType(records, 'buckets').map(({ iteration }) => iteration)).toEqual([
      ...[9, 19, 29, 39, 49, 59],
    ]);
    for (const { epoch, iteration, nnzReduced, staleness } of iterations) {
      expect(epoch).toBe(iteration < 25 ? 0 : iteration < 41 ? 1 : 2);
      // Behind a meeting nobody lacks anything.
      if ([20, 25, 40, 41].includes(iteration)) expect(staleness).toBeUndefined();
      // Nothing is reduced.
      expect(nnzReduced).toBeUndefined();
    }
  },
);

test(
  'a run that is asked to stop ends soon, with one model',
  { tags: 'soak' },
  async () => {
    const command = start(['world.ranks=2', ...LASTING, parallel('staleness: 3')]);
    await command.record('iteration', ({ iteration }) => iteration >= 30);
    command.child.kill('SIGINT');
    await command.finished;
    const [done] = ofType(command.records, 'done');
    expect(done).toMatchObject({ reason: 'stopped', consistent: true });
    const all = iterationsOf(command);
    expect(all).toHaveLength(2 * done!.iterations);
  },
);

test(
  'a rank that is killed costs the iterations since the last checkpoint',
  { tags: 'soak' },
  async () => {
    const settings = [
      ...['world.ranks=2', 'iterations=70', 'checkpointEvery=15', 'evaluateEvery=20'],
      ...['onFailure=restart', 'exchange.method=topk', 'exchange.ratio=0.05'],
      ...[parallel('staleness: 0, servers: 2'), 'optimizer.weightDecay=0.001'],
      'network={bandwidth: 10 Gbit/s, latency: 5 ms}',
    ];
    const whole = await run(settings, ['22:ratio=0.02']);
    const cut = start(settings, ['22:ratio=0.02']);
    const { processes } = await cut.record('started');
    await cut.record('iteration', ({ iteration }) => iteration >= 50);
    process.kill(processes.find(({ rank }) => rank === 1)!.pid, 'SIGKILL');
    succeeded(await cut.finished);
    const [restarted] = ofType(cut.records, 'restarted');
    const kept = ofType(cut.records, 'checkpoint').map(({ iteration }) => iteration);
    expect(new Set(kept)).toEqual(new Set([15, 23, 30, 45, 60]));
    expect(kept).toContain(restarted!.iteration);
    expect(ofType(cut.records, 'done')).toMatchObject([
      { consistent: true, iterations: 70 },
    ]);
    // What was recorded before the cut, and again behind it, is the same.
    const seen = new Map<string, Iteration>();
    for (const one of ofType(cut.records, 'iteration')) {
      seen.set(`${one.iteration}/${one.rank}`, one);
    }
    const again = [...seen.values()].toSorted(
      (a, b) => a.iteration - b.iteration || a.rank - b.rank,
    );
    expect(mostApart(again, whole.iterations)).toBe(0);
  },
);

describe('several trainer threads', () => {
  const THREADS = ['world.ranks=2', 'optimizer.lr=0.01'];

  test(
    'share a rank, each with an iteration of its own, and meet with the others',
    { tags: 'soak' },
    async () => {
      const staleness = 4;
      const { done, iterations, records } = await run(
        [
          ...[...THREADS, 'iterations=60', 'evaluateEvery=20', 'exchange.method=topk'],
          parallel(`staleness: ${staleness}, trainerThreads: 3, drainEvery: 8`),
        ],
        ['25:method=dct', '41:method=none'],
      );
      expect(done).toMatchObject({ consistent: true, iterations: 60 });
      expect(iterations.map(({ iteration, rank }) => [iteration, rank])).toEqual(
        Array.from({ length: 120 }, (_, i) => [Math.floor(i / 2), i % 2]),
      );
      const evaluations = ofType(records, 'evaluation');
      expect(evaluations.map(({ iteration }) => iteration)).toEqual([19, 39, 59]);
      expect(ofType(records, 'switch').map(({ fence }) => fence)).toEqual([25, 41]);
      const drained = iterations.filter((one) => one.drained === true);
      expect(drained.length).toBeGreaterThan(0);
      for (const one of iterations) {
        expect(one.staleness ?? 0).toBeLessThanOrEqual(staleness);
        expect(sumPhases(one.phases)).toBeCloseTo(one.wall, 6);
        // 796,840 bytes of residual, where there is one; this rank hands out no weights.
        if (one.method !== 'none' && one.rank === 1) {
          expect(one.bytes.wireSent! > 400_000).toBe(one.drained === true);
        }
      }
      expect(new Set(iterations.map((one) => one.trainerThread))).toEqual(
        new Set([0, 1, 2]),
      );
    },
  );

  test(
    'end with a gradient that is no number, naming rank and iteration',
    { tags: 'soak' },
    async () => {
      const { code, stderr } = await start([
        ...[...THREADS, 'iterations=40', 'optimizer.lr=1e20'],
        parallel('staleness: 2, trainerThreads: 2'),
      ]).finished;
      expect(code).toBe(1);
      expect(stderr).toMatch(/LOSS_NOT_FINITE|GRADIENT_NOT_FINITE/);
      expect(stderr).toMatch(/in iteration \d+\b.*\(rank [01]\)/);
    },
  );

  test(
    'stop when they are asked to, and go on after a rank was killed',
    { tags: 'soak' },
    async () => {
      const command = start([
        ...[...THREADS, 'iterations=1000000', 'checkpointEvery=10'],
        ...['onFailure=restart', parallel('staleness: 3, trainerThreads: 2')],
      ]);
      const { processes } = await command.record('started');
      await command.record('iteration', ({ iteration }) => iteration >= 25);
      process.kill(processes.find(({ rank }) => rank === 1)!.pid, 'SIGKILL');
      const { iteration: from } = await command.record('restarted');
      await command.record('iteration', ({ iteration }) => iteration === from + 20);
      command.child.kill('SIGINT');
      await command.finished;
      const [done] = ofType(command.records, 'done');
      expect(done).toMatchObject({ reason: 'stopped', consistent: true });
    },
  );
});

describe('a rank that is lost is named, and nobody waits for it', () => {
  test.each([
    { what: 'the server', victim: 0, servers: 1 },
    { what: 'a worker', victim: 2, servers: 1 },
  ])('$what', { tags: 'soak' }, async ({ servers, victim }) => {
    const command = start([
      ...['world.ranks=3', ...LASTING, parallel(`servers: ${servers}`)],
    ]);
    const { processes } = await command.record('started');
    await command.record('iteration', ({ iteration }) => iteration >= 5);
    process.kill(processes.find(({ rank }) => rank === victim)!.pid, 'SIGKILL');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: WORKER_DIED: /);
    expect(ofType(command.records, 'failed')).toMatchObject([
      { error: { code: 'WORKER_DIED', rank: victim } },
    ]);
    await until(
      () => node.home.processes('gradwire worker'),
      (left) => left.length === 0,
      'the workers to end',
    );
  });

  test('one that is stopped gives no sign of life', { tags: 'soak' }, async () => {
    const command = start(['world.ranks=2', ...LASTING, parallel('staleness: 1')]);
    const { processes } = await command.record('started');
    await command.record('iteration', ({ iteration }) => iteration >= 5);
    process.kill(processes.find(({ rank }) => rank === 0)!.pid, 'SIGSTOP');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toContain('PEER_SILENT: rank 0 sent rank 1 no sign of life');
  });
});

test(
  'a gradient that is no number ends the run, naming rank and iteration',
  { tags: 'soak' },
  async () => {
    const command = start([
      ...[
        'world.ranks=3',
        'iterations=40',
        parallel('staleness: 2'),
        'optimizer.lr=1e20',
      ],
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/LOSS_NOT_FINITE|GRADIENT_NOT_FINITE/);
    expect(stderr).toMatch(/in iteration \d\b.*\(rank [012]\)/);
  },
);

test('what does not go together is refused before anything starts', async () => {
  const switched = start(
    [parallel('staleness: 1'), 'iterations=20'],
    ['5:method=powersgd'],
  );
  const { code, stderr } = await switched.finished;
  expect(code).toBe(2);
  expect(stderr).toContain(
    'METHOD_NEEDS_PEERS: powersgd needs the sums of all ranks’ first factors',
  );
  const forecast = await node.home.run([
    ...['plan', 'quickstart', '--set', parallel('staleness: 1, servers: 2')],
  ]);
  expect(forecast.code).toBe(2);
  expect(forecast.stderr).toContain('plan cannot predict asynchronous training');
});
