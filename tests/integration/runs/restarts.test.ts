/**
 * Runs that lose a process and go on from a checkpoint: with the bits of a run that lost none,
 * and with one record of every rank and iteration.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import {
  GradwireHome,
  type RunningCommand,
  succeeded,
} from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { ofType, type OfType } from '../../harness/records.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const LENGTH = 70;
/** On links slow enough that a run is still under way when a busy machine gets to kill it. */
const RESTARTS = [
  ...['onFailure=restart', 'world.ranks=2', 'backend=wasm'],
  'network={bandwidth: 10 Gbit/s, latency: 5 ms}',
];

const start = (...settings: readonly string[]): RunningCommand =>
  home.startQuickstart([...RESTARTS, ...settings]);

let plain: Promise<RunningCommand> | undefined;
/** What a run without settings of its own is when nothing is lost. */
const uncut = (): Promise<RunningCommand> => {
  plain ??= (async () => {
    const command = start(`iterations=${LENGTH}`);
    await command.finished;
    return command;
  })();
  return plain;
};

/** The run that goes on: others may not have been put away yet. */
function runningHere(): string {
  const [worker] = home.processes('gradwire worker');
  return worker!.title.split(' ')[2]!;
}

const checkpointFolder = (): string =>
  path.join(home.directory, 'runs', runningHere(), 'checkpoints');

/** Waits until rank 0 has recorded the iteration. */
async function reach(command: RunningCommand, iteration: number): Promise<void> {
  await command.record(
    'iteration',
    (record) => record.rank === 0 && record.iteration >= iteration,
  );
}

/** What of a run does not depend on the time it takes. */
function trajectory(records: readonly RunRecord[]) {
  const iterations = ofType(records, 'iteration').toSorted(
    (a, b) => a.iteration - b.iteration || a.rank - b.rank,
  );
  return {
    iterations: iterations.map(
      ({
        rank,
        iteration,
        loss,
        metric,
        lr,
        epoch,
        method,
        bytes,
        residualNorm,
        staleness,
      }) => ({
        ...{
          rank,
          iteration,
          loss,
          metric,
          lr,
          epoch,
          method,
          residualNorm,
          staleness,
        },
        payload: bytes.payload,
      }),
    ),
    evaluations: ofType(records, 'evaluation').map(
      ({ iteration, loss, metric, samples }) => ({ iteration, loss, metric, samples }),
    ),
    divergences: ofType(records, 'divergence').map(({ iteration, value }) => ({
      iteration,
      value,
    })),
    switches: ofType(records, 'switch').map(({ fence, epoch, to }) => ({
      fence,
      epoch,
      to,
    })),
    done: ofType(records, 'done').map(({ at: _, ...done }) => done),
  };
}

const killRank = (command: RunningCommand, rank: number): void => {
  const [started] = ofType(command.records, 'started');
  const restarted = ofType(command.records, 'restarted').at(-1);
  const { processes } = restarted ?? started!;
  process.kill(processes.find((one) => one.rank === rank)!.pid, 'SIGKILL');
};

const wholes = new Map<string, Promise<RunningCommand>>();
/** The run that loses nothing. */
const wholeOf = (args: readonly string[]): Promise<RunningCommand> => {
  const key = args.join(' ');
  const whole =
    wholes.get(key) ??
    (async () => {
      const command = home.start(args);
      expect((await command.finished).stderr).toBe('');
      return command;
    })();
  wholes.set(key, whole);
  return whole;
};

/** The same run, whole and with rank 1 killed on its way: both end with the same bits. */
async function wholeAndCut(
  args: readonly string[],
): Promise<Readonly<Record<'whole' | 'cut', RunningCommand>>> {
  const whole = await wholeOf(args);
  const cut = home.start(args);
  await reach(cut, 40);
  killRank(cut, 1);
  const { code, stderr } = await cut.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(trajectory(cut.records)).toEqual(trajectory(whole.records));
  return { whole, cut };
}

interface Plan {
  readonly name: string;
  readonly settings: readonly string[];
  readonly switches?: readonly string[];
}

const argsOf = ({ settings, switches = [] }: Plan): readonly string[] => [
  ...['run', 'quickstart', '--json', ...switches],
  ...[
    ...[...RESTARTS, ...settings, `iterations=${LENGTH}`, 'checkpointEvery=15'],
  ].flatMap((setting) => ['--set', setting]),
];

const PLANS: readonly Plan[] = [
  {
    name: 'momentum, top-k, a switch to dgc before the cut and one to none after it',
    settings: ['exchange.method=topk', 'exchange.ratio=0.01', 'evaluateEvery=20'],
    switches: ['--switch', '30:method=dgc,ratio=0.02', '--switch', '52:method=none'],
  },
  {
    name: 'replicas that drift, and quantised velocities of powersgd',
    settings: [
      'exchange.method=a2sgd',
      'exchange.layers=[{match: "*1*", method: powersgd}]',
      'evaluateEvery=0',
    ],
  },
  {
    name: 'random rounding of what is summed',
    settings: ['exchange.quantizeSums={bits: 4}', 'evaluateEvery=30'],
  },
  {
    name: 'a language model by Adam',
    settings: [
      ...['workload.model=lstm-small', 'workload.dataset=sentences'],
      ...['optimizer={kind: adam, lr: 0.005}', 'exchange.method=topk'],
    ],
  },
  {
    name: 'gradients that are applied one iteration late',
    settings: ['exchange.method=topk', 'doubleBuffer=true', 'evaluateEvery=20'],
    switches: ['--switch', '36:method=qsgd'],
  },
  {
    name: 'gradients corrected by a full one of some iterations before',
    settings: ['optimizer.fullGradientEvery=16', 'exchange.method=qsgd'],
  },
  {
    name: 'batch norms, whose statistics are nowhere kept',
    settings: [
      ...['workload.model=resnet-20', 'workload.dataset=shapes'],
      ...['workload.batchPerRank=2', 'exchange.method=topk', 'evaluateEvery=0'],
    ],
  },
  {
    name: 'a table, of which only what is not 0 is sent',
    settings: [
      ...['workload.model=linear-svm', 'workload.dataset=sparse'],
      ...['exchange.method=nonzero', 'optimizer.weightDecay=0.001'],
    ],
  },
  {
    name: 'random blocks of coordinates, and a switch to them',
    settings: [
      ...['workload.model=logistic-regression', 'workload.dataset=sparse'],
      ...['exchange.method=topk', 'optimizer.momentum=0'],
    ],
    switches: ['--switch', '20:method=blockcd'],
  },
  {
    name: 'clicks by DLRM and Adagrad, whose sums of squares a table has as well',
    settings: [
      ...['workload.model=dlrm-small', 'workload.dataset=clicks'],
      ...['optimizer={kind: adagrad, lr: 0.02}', 'exchange.method=topk'],
      'exchange.layers=[{match: embedding, method: nonzero}]',
    ],
  },
];

describe('a rank that is killed', () => {
  it(
    'costs nothing but time: local steps with momentum of their own and of all',
    { tags: 'soak' },
    async () => {
      const settings = [
        ...[
          ...RESTARTS,
          `iterations=${LENGTH}`,
          'checkpointEvery=15',
          'evaluateEvery=20',
        ],
        ...['parallelism={kind: local-steps, every: 4}', 'exchange.method=topk'],
      ];
      const args = [
        ...['run', 'quickstart', '--json', '--switch', '22:method=dct'],
        ...settings.flatMap((setting) => ['--set', setting]),
      ];
      const { whole } = await wholeAndCut(args);
      // Each 15 iterations and behind a switch, at the exchange that comes next: where all
      // ranks have the same weights.
      const kept = ofType(whole.records, 'checkpoint').map(
        ({ iteration }) => iteration,
      );
      expect([...new Set(kept)]).toEqual([16, 28, 32, 48, 60]);
    },
  );

  it.each(PLANS.slice(0, effort({ quick: 1, soak: PLANS.length })))(
    'costs nothing but time: $name',
    async (plan) => {
      const { switches = [] } = plan;
      const { cut } = await wholeAndCut(argsOf(plan));
      expect(ofType(cut.records, 'interrupted')).toMatchObject([
        { error: { code: 'WORKER_DIED', rank: 1 } },
      ]);
      const kept = ofType(cut.records, 'checkpoint').map(({ iteration }) => iteration);
      expect(kept).toContain(ofType(cut.records, 'restarted')[0]!.iteration);
      // One at each interval, and one behind each switch: a switch itself is none's place.
      const fences = switches
        .filter((word) => word !== '--switch')
        .map((word) => Number.parseInt(word, 10));
      const due = [15, 30, 45, 60].filter((at) => !fences.includes(at));
      const after = fences.map((fence) => fence + 1);
      expect(kept).toEqual([...due, ...after].toSorted((a, b) => a - b));
    },
  );

  it(
    'before the first checkpoint restarts the run from its beginning',
    { tags: 'soak' },
    async () => {
      const whole = await uncut();
      const cut = start(`iterations=${LENGTH}`, 'checkpointEvery=1000');
      await reach(cut, 5);
      killRank(cut, 0);
      await cut.finished;
      expect(trajectory(cut.records)).toEqual(trajectory(whole.records));
      expect(ofType(cut.records, 'restarted')).toMatchObject([{ iteration: 0 }]);
    },
  );
});

describe('a checkpoint on order', () => {
  it(
    'is the one from which the run goes on, with the bits of a run without',
    { tags: 'soak' },
    async () => {
      const whole = await uncut();
      // Long enough in each iteration that a busy machine gets to order and to kill.
      const cut = start(
        ...[`iterations=${LENGTH}`, 'checkpointEvery=0'],
        'network={bandwidth: 10 Gbit/s, latency: 20 ms}',
      );
      await reach(cut, 2);
      // By the socket: a command takes long to start on a busy machine, and the run would end.
      const supervisor = await ControlConnection.open(connectTo(home.socket), {
        run: () => undefined,
        lost: () => undefined,
      });
      await supervisor.request('checkpoint', { run: runningHere() });
      await supervisor.close();
      const { iteration } = await cut.record('checkpoint');
      killRank(cut, 1);
      succeeded(await cut.finished);
      expect(trajectory(cut.records)).toEqual(trajectory(whole.records));
      expect(ofType(cut.records, 'checkpoint')).toMatchObject([{ iteration }]);
      expect(ofType(cut.records, 'restarted')).toMatchObject([{ iteration }]);
    },
  );
});

describe('a supervisor that ends', () => {
  const ends = [
    { by: 'SIGKILL', code: 'SUPERVISOR_LOST' },
    { by: 'SIGTERM', code: 'SUPERVISOR_STOPPED' },
  ] as const;
  it.each(ends.slice(0, effort({ quick: 1, soak: 2 })))(
    'by $by: the one after it has the ranks go on',
    async ({ by, code }) => {
      const args = argsOf(PLANS[0]!);
      const whole = await wholeOf(args);
      const cut = home.start(args);
      await reach(cut, 20);
      process.kill(home.supervisors()[0]!.pid, by);
      succeeded(await cut.finished);
      expect(trajectory(cut.records)).toEqual(trajectory(whole.records));
      expect(ofType(cut.records, 'interrupted')).toMatchObject([{ error: { code } }]);
    },
  );
});

describe('a checkpoint that is damaged', () => {
  it('is left out: the one before is taken', { tags: 'soak' }, async () => {
    const command = start('iterations=1000000', 'checkpointEvery=20');
    const told = (): readonly OfType<'checkpoint'>[] =>
      ofType(command.records, 'checkpoint');
    await until(told, ({ length }) => length >= 2, 'two checkpoints');
    const [{ processes }] = ofType(command.records, 'started') as [OfType<'started'>];
    const send = (signal: NodeJS.Signals): void => {
      for (const { pid } of processes) process.kill(pid, signal);
    };
    const directory = checkpointFolder();
    const kept = (): number[] =>
      readdirSync(directory)
        .map(Number)
        .toSorted((a, b) => b - a);
    // Stopped where none is under way: all that is there has been told.
    await until(
      () => {
        const isTold = told().at(-1)?.iteration === kept()[0];
        if (isTold) send('SIGSTOP');
        const stands = isTold && told().at(-1)?.iteration === kept()[0];
        if (isTold && !stands) send('SIGCONT');
        return stands;
      },
      (stands) => stands,
      'a moment between two checkpoints',
    );
    const [newest, before] = kept();
    const file = path.join(directory, String(newest), 'rank-0.gwc');
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
    process.kill(processes[1]!.pid, 'SIGKILL');
    const restarted = await command.record('restarted');
    expect([restarted.iteration, newest]).toEqual([before, newest]);
    expect(
      ofType(command.records, 'interrupted').map(({ error }) => error.code),
    ).toEqual(['WORKER_DIED', 'CHECKPOINT_INVALID']);
    command.child.kill('SIGINT');
    await command.finished;
  });
});

describe('what the run itself does wrong', () => {
  it('ends it: it would do so again', async () => {
    const command = start('optimizer.lr=1e20', 'iterations=50', 'checkpointEvery=1');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: (LOSS|GRADIENT)_NOT_FINITE: /);
    expect(ofType(command.records, 'interrupted')).toEqual([]);
  });
});
