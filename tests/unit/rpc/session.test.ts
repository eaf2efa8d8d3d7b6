/** The page's connection and main's session, talking: what crosses, and what does not. */
import { describe, expect, it, vi } from 'vitest';
import { MAX_RECORDS_IN_FLIGHT, Sessions } from '../../../src/main/rpc/session.ts';
import { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import { rpcArguments } from '../../../src/shared/rpc/rpc-arguments.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';
import { channelPair } from './channel-pair.ts';
import { ENTRY, RUN, SmallCore, SPEC } from './small-core.ts';

async function open(core: SmallCore, sessions = new Sessions(core)) {
  const lines: ReturnType<typeof channelPair>[] = [];
  const connection = new HostConnection(async () => {
    const pair = channelPair();
    lines.push(pair);
    sessions.serve(pair.host);
    return { kind: 'open', channel: pair.page };
  }, undefined);
  await connection.settled();
  return { connection, sessions, lines, line: () => lines.at(-1)! };
}

const SWEEP = {
  spec: 'name: first\n',
  vary: ['world.ranks=1,2'],
  seeds: [4],
  atOnce: 2,
};

/** Every call with arguments that are all different from their defaults. */
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

describe('a push', () => {
  it('of records comes only to those who watch the run', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    const watching = await open(core, sessions);
    const other = await open(core, sessions);
    const seen = vi.fn();
    const unseen = vi.fn();
    watching.connection.on('records', seen);
    other.connection.on('records', unseen);
    other.connection.on('notice', unseen);
    await watching.connection.api.watch('run-1');
    core.emit('records', 'run-1', [ENTRY]);
    core.emit('records', 'run-2', [ENTRY]);
    core.emit('notice', { code: 'X', kind: 'failure', message: 'm' });
    await expect.poll(() => unseen).toHaveBeenCalledOnce();
    expect(seen.mock.calls).toEqual([['run-1', [ENTRY]]]);
    expect(unseen.mock.calls).toEqual([[{ code: 'X', kind: 'failure', message: 'm' }]]);
  });

  it('ends for the core when the last watcher has gone', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    const one = await open(core, sessions);
    const two = await open(core, sessions);
    await one.connection.api.watch('run-1');
    await two.connection.api.watch('run-1');
    await one.connection.api.unwatch('run-1');
    expect(core.named('unwatch')).toEqual([]);
    two.connection.close();
    await expect.poll(() => core.named('unwatch')).toEqual([['run-1']]);
    expect(sessions.size).toBe(1);
    expect(core.listening).toBe(1);
  });

  it('is dropped while the page does not keep up, and the page is told once', async () => {
    const core = new SmallCore();
    const { connection, line } = await open(core);
    await connection.api.watch('run-1');
    const records = vi.fn();
    const resync = vi.fn();
    connection.on('records', records);
    connection.on('resync', resync);
    const { page } = line();
    page.held = true;
    const batch = Array.from({ length: 1024 }, () => ENTRY);
    const fitting = MAX_RECORDS_IN_FLIGHT / batch.length;
    for (let i = 0; i < fitting + 50; i++) core.emit('records', 'run-1', batch);
    await Promise.resolve();
    // Bounded: what waits is what was in flight, however much was pushed.
    expect(page.waiting).toBe(fitting);
    page.held = false;
    page.drain();
    await expect.poll(() => resync).toHaveBeenCalledOnce();
    expect(records).toHaveBeenCalledTimes(fitting);
    core.emit('records', 'run-1', [ENTRY]);
    await expect.poll(() => records).toHaveBeenCalledTimes(fitting + 1);
    expect(resync).toHaveBeenCalledOnce();
  });

  it('that no store has comes even to a page that does not keep up', async () => {
    const core = new SmallCore();
    const { connection, line } = await open(core);
    await connection.api.watch('run-1');
    const notice = vi.fn();
    const changed = vi.fn();
    connection.on('notice', notice);
    connection.on('runChanged', changed);
    const { page } = line();
    page.held = true;
    const batch = Array.from({ length: MAX_RECORDS_IN_FLIGHT }, () => ENTRY);
    core.emit('records', 'run-1', batch);
    core.emit('runChanged', RUN);
    core.emit('notice', { code: 'X', kind: 'failure', message: 'once' });
    page.held = false;
    page.drain();
    await expect.poll(() => notice).toHaveBeenCalledOnce();
    // What is stored is left out: the page reads it again.
    expect(changed).not.toHaveBeenCalled();
  });

  it('larger than the limit still goes when it is alone', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    await connection.api.watch('run-1');
    const records = vi.fn();
    connection.on('records', records);
    const batch = Array.from({ length: MAX_RECORDS_IN_FLIGHT + 1 }, () => ENTRY);
    core.emit('records', 'run-1', batch);
    await expect.poll(() => records).toHaveBeenCalledOnce();
  });
});

describe('a line that breaks', () => {
  it('comes back, watches again, and asks the page to read again', async () => {
    const core = new SmallCore();
    const { connection, lines, line } = await open(core);
    const status = vi.fn();
    const resync = vi.fn();
    const records = vi.fn();
    connection.on('status', status);
    connection.on('resync', resync);
    connection.on('records', records);
    await connection.api.watch('run-1');
    line().host.close();
    expect(connection.status).toBe('reconnecting');
    await expect.poll(() => resync).toHaveBeenCalledOnce();
    expect(lines).toHaveLength(2);
    expect(status.mock.calls).toEqual([['reconnecting'], ['connected']]);
    expect(core.named('watch')).toEqual([['run-1'], ['run-1']]);
    core.emit('records', 'run-1', [ENTRY]);
    await expect.poll(() => records).toHaveBeenCalledOnce();
  });

  it('rejects the calls under way and those made meanwhile', async () => {
    const core = new SmallCore();
    let tries = 0;
    const sessions = new Sessions(core);
    const pairs: ReturnType<typeof channelPair>[] = [];
    const connection = new HostConnection(async () => {
      if (++tries === 2) return { kind: 'refused' };
      const pair = channelPair();
      pairs.push(pair);
      sessions.serve(pair.host);
      return { kind: 'open', channel: pair.page };
    }, undefined);
    await connection.settled();
    pairs[0]!.host.held = true;
    const call = connection.api.info();
    const lost = { code: 'CONNECTION_LOST' };
    const rejected = expect(call).rejects.toMatchObject(lost);
    pairs[0]!.page.close();
    await rejected;
    await expect.poll(() => connection.status).toBe('refused');
    await expect(connection.api.info()).rejects.toMatchObject(lost);
    expect(tries).toBe(2);
  });

  it('is tried again until the host answers', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    let tries = 0;
    const connection = new HostConnection(async () => {
      if (++tries < 3) return { kind: 'unreachable' };
      const pair = channelPair();
      sessions.serve(pair.host);
      return { kind: 'open', channel: pair.page };
    }, undefined);
    await connection.settled();
    expect(tries).toBe(3);
    expect(connection.status).toBe('connected');
    connection.close();
    expect(sessions.size).toBe(0);
  });
});

describe('a terminal’s output', () => {
  it('reaches the page whose it is, and is answered when that has taken it', async () => {
    const core = new SmallCore();
    const { connection, sessions } = await open(core);
    const { connection: other } = await open(core, sessions);
    const heard: unknown[] = [];
    let take!: () => void;
    const taken = new Promise<void>((resolve) => (take = resolve));
    connection.on('terminalOutput', async (...args) => {
      heard.push(args);
      await taken;
    });
    other.on('terminalOutput', () => {
      heard.push('other');
    });
    const [page] = [...core.pages];
    let answered = false;
    const answer = Promise.resolve(page!.terminalOutput(1, 'hello')).then(
      () => (answered = true),
    );
    await expect.poll(() => heard).toEqual([[1, 'hello']]);
    await connection.api.info();
    expect(answered).toBe(false);
    take();
    await answer;
  });

  it('ends with its session', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    expect(core.pages.size).toBe(1);
    connection.close();
    await expect.poll(() => core.pages.size).toBe(0);
  });
});
