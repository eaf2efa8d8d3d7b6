/** Calls of the page over a session: what crosses, and what does not. */
import { describe, expect, it } from 'vitest';
import { Sessions } from '../../../src/main/rpc/session.ts';
import { rpcArguments } from '../../../src/shared/rpc/rpc-arguments.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';
import { channelPair } from './channel-pair.ts';
import { RUN, SmallCore, SPEC } from './small-core.ts';
import { open } from './open-session.ts';

const SWEEP = {
  spec: 'name: first\n',
  vary: ['world.ranks=1,2'],
  seeds: [4],
  atOnce: 2,
};

/** All calls, with arguments that differ from their defaults. */
const EXAMPLES: { readonly [K in keyof AppApi]: Parameters<AppApi[K]> } = {
  info: [],
  catalogue: [],
  presets: [],
  checkSpec: ['name: first\n'],
  specToYaml: [SPEC],
  launch: [SPEC, 'run-1'],
  sweeps: [],
  sweep: ['sweep-1'],
  checkSweep: [SWEEP],
  startSweep: [SWEEP],
  stopSweep: ['sweep-1', true],
  resumeSweep: ['sweep-1'],
  editSweep: ['sweep-1', { type: 'drop', runs: [3] }],
  removeSweep: ['sweep-1'],
  relaunch: ['run-1'],
  fetchMissing: ['run-1'],
  order: [
    'run-1',
    { type: 'switch', change: { method: 'topk', ratio: 0.01 }, residual: 'drop' },
  ],
  runs: [{ search: 'first', limit: 5, offset: 2, deleted: true }],
  runPage: [
    {
      filter: 'method:topk',
      deleted: true,
      order: '-loss',
      group: 'model',
      columns: ['exchange.ratio'],
      limit: 5,
      offset: 2,
    },
  ],
  matchingRuns: [{ filter: 'loss<1', deleted: true }],
  runVocabulary: [],
  tagRuns: [['run-1'], 'paper', true],
  renameRun: ['run-1', 'second'],
  notes: ['run-1'],
  writeNote: ['run-1', { id: 2, text: 'it diverged', iteration: 7 }],
  removeNote: ['run-1', 2],
  run: ['run-1'],
  iterations: ['run-1', { from: 1, fromRank: 2, to: 9, most: 10 }],
  bins: ['run-1', { from: 1, to: 9, width: 4, rank: 1 }],
  runLog: ['run-1', 3],
  tracedIterations: ['run-1'],
  trace: ['run-1', { from: 1, fromRank: 2, to: 9 }],
  buckets: ['run-1', { from: 1, to: 9, columns: 4, measure: 'time', rank: 0 }],
  machines: ['run-1', { from: 1, to: 9, columns: 4 }],
  setDeleted: ['run-1', true],
  setAllDeleted: [['run-1', 'run-2'], true],
  history: [],
  purge: [['run-1']],
  figures: [],
  figurePage: ['sparcml-figure-1'],
  startFigure: ['sparcml-figure-1', 'resume'],
  stopFigure: [],
  predictPoint: [{ spec: 'workload: {}', vary: [], seeds: 1, atOnce: 1 }, 1],
  planStep: [{ spec: SPEC, ranks: [16], curve: 'ranks' }],
  whatIf: [{ run: 'run-1', ranks: 16, change: { method: 'topk' } }],
  measuredSteps: [{ model: 'fnn3', dataset: 'digits', batchPerRank: 32 }],
  comparedRun: ['run-1'],
  exportRun: ['run-1', 'csv', { part: 'log', from: 3, isFirst: true }],
  catchUps: [],
  notices: [],
  watch: ['run-1'],
  unwatch: ['run-1'],
  nodes: [],
  folder: ['/home/me'],
  importableHosts: [],
  addNode: [{ name: 'box', destination: 'box.lab' }],
  editNode: [
    'box',
    { name: 'crate', destination: 'box.lab' },
    { shown: { name: 'box', destination: 'box' }, sameMachine: true },
  ],
  removeNode: ['box'],
  nodeLog: ['box'],
  checkNode: ['box'],
  deployNode: ['box'],
  uninstallNode: ['box'],
  stopOn: ['box', 'run-1'],
  cancelNode: ['box'],
  network: [],
  measureNetwork: [],
  cancelNetwork: [],
  dataSets: [],
  fetchDataSet: ['mnist'],
  cancelDataSet: ['mnist'],
  questions: [],
  settings: [],
  changeSetting: ['notify.command', 'true'],
  answer: [1, { type: 'secrets', answers: ['x'] }],
  openTerminal: [1, 'box', { columns: 80, rows: 24 }],
  writeTerminal: [1, 'ls\r'],
  resizeTerminal: [1, { columns: 132, rows: 43 }],
  closeTerminal: [1],
};

describe('a call', () => {
  it.each(Object.keys(rpcArguments) as (keyof AppApi)[])(
    '%s reaches the core with its arguments and brings its answer back',
    async (name) => {
      const core = new SmallCore();
      const { connection } = await open(core);
      if (name === 'unwatch') await connection.api.watch('run-1');
      type Any = (...input: readonly unknown[]) => Promise<unknown>;
      const answer = await (connection.api[name] as Any)(...EXAMPLES[name]);
      expect(core.named(name)).toEqual([EXAMPLES[name]]);
      const other = new SmallCore();
      const terminals = other.terminals({
        terminalOutput: () => undefined,
        terminalEnded: () => undefined,
      });
      const direct: AppApi = { ...other.api, ...terminals.api };
      expect(answer).toEqual(await (direct[name] as Any)(...EXAMPLES[name]));
    },
  );

  it('reaches the core without the arguments at its end that are undefined', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    await connection.api.exportRun('run-1', 'csv', undefined);
    await connection.api.launch(SPEC, undefined);
    expect(core.named('exportRun')).toEqual([['run-1', 'csv']]);
    expect(core.named('launch')).toEqual([[SPEC]]);
  });

  it('that fails rejects with the error’s data, all of it', async () => {
    const { connection } = await open(new SmallCore());
    await expect(connection.api.run('nope')).rejects.toEqual({
      code: 'RUN_UNKNOWN',
      kind: 'input',
      message: 'there is no run "nope"',
      place: 'store',
      next: 'List the runs.',
    });
  });

  it('that fails on a bug says that it is one', async () => {
    const core = new SmallCore();
    core.api.info = () => Promise.reject(new TypeError('x is not a function'));
    const { connection } = await open(core);
    await expect(connection.api.info()).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'internal: x is not a function',
    });
  });

  it('whose answer has no JSON rejects, and the line stays up', async () => {
    const core = new SmallCore();
    core.api.exportRun = () => Promise.resolve(1n as never);
    const { connection } = await open(core);
    await expect(connection.api.exportRun('run-1', 'csv')).rejects.toMatchObject({
      code: 'INTERNAL',
    });
    await expect(connection.api.run('run-1')).resolves.toEqual(RUN);
  });

  it('whose answer this page does not expect rejects, and the line stays up', async () => {
    const core = new SmallCore();
    const answer = (value: unknown) => async () => Promise.resolve(value as never);
    core.api.runs = answer([{ ...RUN, methods: 'none' }]);
    core.api.history = answer(undefined);
    // What a later version says besides does no harm.
    core.api.run = answer({ ...RUN, later: 1 });
    const { connection } = await open(core);
    await expect(connection.api.runs({})).rejects.toMatchObject({
      code: 'RPC_RESULT_INVALID',
      message: expect.stringContaining('answers runs as this page') as string,
      next: expect.stringContaining('Reload the page') as string,
    });
    await expect(connection.api.history()).rejects.toMatchObject({
      code: 'RPC_RESULT_INVALID',
    });
    expect(await connection.api.run('run-1')).toEqual({ ...RUN, later: 1 });
    expect(connection.status).toBe('connected');
  });

  it('with arguments that do not fit is refused before the core hears of it', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    await expect(
      connection.api.iterations('run-1', { from: -1, to: 4, most: 10 }),
    ).rejects.toMatchObject({
      code: 'RPC_INVALID_ARGUMENTS',
      kind: 'input',
      message: expect.stringMatching(/^iterations: argument 2 from: /) as string,
    });
    expect(core.calls).toEqual([]);
  });

  it.each(['shutdown', 'constructor', '__proto__', 'toString', 'onEvent', ''])(
    'named %j is unknown',
    async (name) => {
      const core = new SmallCore();
      const { host, page } = channelPair();
      new Sessions(core).serve(host);
      const answers: unknown[] = [];
      page.onMessage((text) => answers.push(JSON.parse(text as string)));
      page.post(JSON.stringify({ t: 'q', i: '1', m: name, a: [] }));
      await expect.poll(() => answers).toHaveLength(1);
      expect(answers[0]).toMatchObject({ i: '1', e: { code: 'RPC_UNKNOWN_CALL' } });
      expect(core.calls).toEqual([]);
    },
  );

  it.each([
    'hello',
    '',
    'null',
    '[]',
    '{"t":"q"}',
    '{"t":"q","i":"1","m":"info","a":5}',
    '{"t":"x","i":"1"}',
    '{"t":"q","i":{},"m":"info","a":[]}',
  ])('that is none (%s) closes the line', async (text) => {
    const core = new SmallCore();
    const { host, page } = channelPair();
    new Sessions(core).serve(host);
    page.post(text);
    await expect.poll(() => page.closedFor).toBe('refused');
    expect(core.listening).toBe(0);
    expect(core.calls).toEqual([]);
  });
});
