/**
 * docs/extending.md, followed: a method, a collective, a model, a data set and an order whose files are
 * in this folder and not in the source tree. The supervisor, the ranks' processes and their
 * engine threads, and the command, all real, run from the sources and load `register.ts`
 * first. Its calls share one process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { formSections } from '../../../src/renderer/state/experiment/spec-form.ts';
import type { Catalogue } from '../../../src/shared/catalogue/catalogue.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { CommandHost } from '../../harness/command-host.ts';
import type { CommandAnswer } from '../../harness/command-process.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { untilAsync } from '../../harness/processes.ts';

const root = path.join(import.meta.dirname, '../../..');
const source = (file: string): string => path.join(root, 'src', file);
const register = pathToFileURL(path.join(import.meta.dirname, 'register.ts')).href;
const NODE_OPTIONS = `--import=${register}`;

const SPEC = {
  name: 'from outside',
  workload: { model: 'line', dataset: 'stripes', batchPerRank: 16 },
  world: { ranks: 2 },
  optimizer: { kind: 'sgd', lr: 0.5, momentum: 0, schedule: 'constant' },
  exchange: { method: 'striding', stride: 2, collective: 'star' },
  iterations: 20,
  seed: 1,
  // The engine has a thread of its own, which has to know of all of it, too.
  engine: 'thread',
};
const PARAMETERS = 64 * 3 + 3;

let home: GradwireHome;
let commands: CommandHost;
let supervisor: ChildProcess;
let spec: string;
let catalogue: Catalogue;
let connection: ControlConnection;

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    GRADWIRE_HOME: home.directory,
    NO_COLOR: '1',
    NODE_OPTIONS,
  };
}

const jsonLines = ({ stdout }: CommandAnswer): readonly Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Undefined while the supervisor does not listen yet. */
async function connect(): Promise<ControlConnection | undefined> {
  try {
    return await ControlConnection.open(net.connect(home.socket), {
      run: () => undefined,
      lost: () => undefined,
    });
  } catch (error) {
    if (error instanceof GradwireError) return undefined;
    throw error;
  }
}

beforeAll(async () => {
  home = new GradwireHome();
  commands = new CommandHost(home, {
    command: source('cli/main.ts'),
    environment: { NODE_OPTIONS },
  });
  mkdirSync(home.directory, { recursive: true });
  spec = path.join(home.directory, 'spec.yaml');
  writeFileSync(spec, JSON.stringify(SPEC));
  const options = ['--home', home.directory, '--socket', home.socket];
  supervisor = spawn(
    process.execPath,
    [source('agent/supervisor/main.ts'), ...options],
    { env: environment(), stdio: 'ignore' },
  );
  // As the app does; while it is connected the supervisor stays.
  const connected = await untilAsync(
    connect,
    (it) => it !== undefined,
    'the supervisor',
  );
  connection = connected!;
  ({ catalogue } = connection.hello);
});

afterAll(async () => {
  const ended = new Promise((resolve) => supervisor.once('exit', resolve));
  await commands[Symbol.asyncDispose]();
  await connection.close();
  await ended;
  await home[Symbol.asyncDispose]();
});

describe('what is registered from outside', () => {
  test('is in the catalogue, and so in the form of the app', () => {
    expect(catalogue.methods.find(({ id }) => id === 'striding')).toMatchObject({
      title: 'Striding',
      residual: true,
      collectives: expect.arrayContaining(['ring', 'star']) as string[],
    });
    expect(catalogue.collectives.map(({ id }) => id)).toContain('star');
    expect(catalogue.models.find(({ id }) => id === 'line')).toMatchObject({
      parameterCount: PARAMETERS,
    });
    expect(catalogue.datasets.map(({ id }) => id)).toContain('stripes');
    const fields = formSections(catalogue, SPEC).flatMap((section) => section.fields);
    const stride = fields.find(({ path: at }) => at === 'exchange.stride');
    expect(stride).toMatchObject({ title: 'Stride', minimum: 1, maximum: 1000 });
  });

  test('is trained in a world of two ranks, and switched to and from', async () => {
    const finished = await commands.run([
      ...['run', spec, '--json', '--switch', '8:stride=3'],
      ...['--switch', '12:method=topk,ratio=0.5', '--switch', '16:method=striding'],
    ]);
    expect(finished.stderr).toBe('');
    expect(finished.code).toBe(0);
    const records = jsonLines(finished) as unknown as readonly RunRecord[];
    const exchanged = records.flatMap((one) => (one.type === 'iteration' ? [one] : []));
    expect(exchanged).toHaveLength(2 * SPEC.iterations);
    const strides = [2, 3, undefined, 4];
    for (const { bytes, collective, iteration, method, rank } of exchanged) {
      const stride = strides[iteration < 8 ? 0 : Math.floor(iteration / 4) - 1];
      if (stride === undefined) {
        expect(method).toBe('topk');
        continue;
      }
      const values = 4 * Math.ceil((PARAMETERS - (iteration % stride)) / stride);
      expect([rank, method, bytes.payload]).toEqual([rank, 'striding', values]);
      if (iteration < 12) expect(collective).toBe('star');
    }
    const switches = records.flatMap((one) => (one.type === 'switch' ? [one] : []));
    expect(switches.map(({ residual }) => residual)).toEqual(['kept', 'kept', 'kept']);
    expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
    const done = records.at(-1) as Extract<RunRecord, { type: 'done' }>;
    // The stripes are told apart by any line that has learned at all; chance is a third.
    expect(done.metric).toBeGreaterThan(0.9);
  });

  test(
    'is given to a run in progress, and obeyed by the engine of each rank',
    { tags: 'soak' },
    async () => {
      const settings = LASTING.flatMap((setting) => ['--set', setting]);
      const launched = await commands.run(['run', spec, '--detach', ...settings]);
      expect(launched.stderr).toBe('');
      const refused = await commands.run(['runs', 'order', 'last', 'greet', 'text=""']);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('ORDER_INVALID: greet: text: ') as string,
      });
      expect(
        await commands.run(['runs', 'order', 'last', 'greet', 'text=good day']),
      ).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
      const greeted = async (): Promise<unknown[]> => {
        const { stdout } = await commands.run(['runs', 'log', 'last', '--json']);
        return stdout.split('\n').filter((entry) => entry.includes('GREETED'));
      };
      const both = await untilAsync(
        greeted,
        (notices) => notices.length >= 2,
        'both ranks to greet',
      );
      expect(both.join('\n')).toMatch(/"rank":0.*\n.*"rank":1|"rank":1.*\n.*"rank":0/);
      expect(both.join('\n')).toContain('good day');
      const stopped = await commands.run(['runs', 'stop', 'last']);
      expect(stopped.stdout).toContain('stopped after');
      const late = await commands.run(['runs', 'order', 'last', 'greet', 'text=late']);
      expect(late).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('RUN_ENDED') as string,
      });
    },
  );

  test('is validated like what is ours', async () => {
    const refused = async (setting: string): Promise<string> => {
      const { code, stderr } = await commands.run(['run', spec, '--set', setting]);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refused('exchange.strid=3')).toMatch(
      /METHOD_PARAMETER_UNKNOWN_KEY.*strid.*stride/s,
    );
    expect(await refused('exchange.method=topk')).toContain('COLLECTIVE_MISFIT');
    expect(await refused('workload.dataset=digits')).toMatch(
      /MODEL_DATASET_MISMATCH.*line takes 64 numbers, digits has 784/s,
    );
    expect(await refused('workload.model=lime')).toMatch(/MODEL_UNKNOWN.*"line"/s);
  });

  test('is known to the command, which foresees it and compresses by it', async () => {
    const planned = await commands.run(['plan', spec, '--compute', '1', '--json']);
    expect(planned.stderr).toBe('');
    expect(jsonLines(planned).find(({ own }) => own === true)).toMatchObject({
      method: 'striding',
      collective: 'star',
      payloadBytes: 4 * Math.ceil(PARAMETERS / 2),
    });
    const vector = path.join(home.directory, 'x.f32');
    writeFileSync(vector, new Float32Array(10).fill(1));
    const compressed = await commands.run([
      ...['compress', '--method', 'striding', '--param', 'stride=3', '--json'],
      ...['--in', vector, '--out', path.join(home.directory, 'x.gw')],
    ]);
    expect(compressed.stderr).toBe('');
    expect(jsonLines(compressed)[0]).toMatchObject({ payloadBytes: 16, n: 10 });
  });
});
