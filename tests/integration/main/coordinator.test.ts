/** The coordinator against a supervisor that breaks at chosen moments. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { localNode } from '../../../src/main/cluster/local-node.ts';
import type { NodeAccess } from '../../../src/main/cluster/node-access.ts';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import { ownName } from '../../../src/main/home/process-name.ts';
import { RunCoordinator } from '../../../src/main/runs/coordinator.ts';
import { foundRuns } from '../../../src/main/runs/found-runs.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import {
  failure,
  inputError,
  type ErrorData,
} from '../../../src/shared/errors/errors.ts';
import { encodeFrame } from '../../../src/shared/protocol/frame.ts';
import type { RunStatus } from '../../../src/shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { until } from '../../harness/processes.ts';
import { sampleSpec, wholeRun } from '../../unit/main/sample-records.ts';
import {
  ScriptedSupervisor,
  type Script,
  type ScriptedClient,
} from './scripted-supervisor.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

let home: Home;
let store: RunStore;
let supervisor: ScriptedSupervisor;
let coordinator: RunCoordinator;
let heard: JournalEntry[];
let notices: ErrorData[];
let noticed: PromiseWithResolvers<ErrorData>;

beforeEach(async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-coordinator-'));
  home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
  store = RunStore.open(home.database);
  // The losses of the sample rise.
  store.settings.set('alerts.loss-rising.on', false);
});
afterEach(async () => {
  await coordinator.close();
  await supervisor.close();
  store.close();
  rmSync(home.directory, { recursive: true });
});

async function play(
  script: Script,
  scope: 'all' | 'own' = 'own',
  others: readonly NodeAccess[] = [],
): Promise<void> {
  supervisor = await ScriptedSupervisor.listen(home.socket, script);
  heard = [];
  notices = [];
  noticed = Promise.withResolvers();
  const own = localNode(home);
  coordinator = new RunCoordinator({
    store,
    nodes: {
      lead: own.name,
      names: () => [own, ...others].map(({ name }) => name),
      access: (name) => [own, ...others].find((access) => access.name === name),
    },
    scope,
    events: {
      changed: () => undefined,
      records: (_, entries) => heard.push(...entries),
      notice: (error) => {
        notices.push(error);
        noticed.resolve(error);
      },
      outOfReach: () => undefined,
    },
  });
}

const spec = sampleSpec({ iterations: 50 });
const run = wholeRun(50);

function supervised(id: string, overrides: Partial<RunStatus> = {}): RunStatus {
  return {
    run: id,
    phase: 'running',
    spec,
    lastSequence: run.length,
    createdAt: 5,
    ...overrides,
  };
}

function createRun(id: string, launcher?: string): void {
  store.create({ id, spec, switches: [], createdAt: 1, launcher });
}

function storedRun(id: string): readonly JournalEntry[] {
  return store.reads.entriesAfter(id, 0);
}

describe('following a run', () => {
  test('through broken connections and repeated records, all are stored and told once', async () => {
    let connections = 0;
    await play({
      runs: [supervised('r')],
      answer: ({ method, body }, client) => {
        if (method !== 'subscribe') return undefined;
        const { after } = body as { after: number };
        connections++;
        // Some that are new, some that came before, and then the line is cut.
        const from = Math.max(0, after - 3);
        const to = connections < 6 ? after + 20 : run.length;
        queueMicrotask(() => {
          client.records('r', run.slice(from, to));
          if (connections < 6) client.drop();
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    await coordinator.following.follow('r');
    const summary = await coordinator.following.ended('r');
    expect(summary).toMatchObject({ state: 'completed', iterations: 50 });
    expect(connections).toBe(6);
    expect(storedRun('r')).toEqual(run);
    expect(heard).toEqual(run);
    expect(notices).toEqual([]);
  });

  test('acknowledges only what another process can read', async () => {
    const reader = RunStore.open(home.database);
    const checks: boolean[] = [];
    await play({
      runs: [supervised('r')],
      answer: ({ method, body }, client) => {
        if (method === 'acknowledge') {
          const { sequence } = body as { sequence: number };
          checks.push(reader.lastSequence('r') >= sequence);
          return {};
        }
        if (method !== 'subscribe') return undefined;
        queueMicrotask(() => {
          client.records('r', run);
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    await coordinator.recover();
    await coordinator.close();
    expect(checks).toEqual([true]);
    expect(supervisor.requested('acknowledge')[0]!.body).toEqual({
      run: 'r',
      sequence: run.length,
    });
    reader.close();
  });

  test('an invalid record ends its run as failed, stopped and completely stored', async () => {
    const spoilt = run.map((entry) =>
      entry.sequence === 4 ? { ...entry, record: { type: 'speed' } as never } : entry,
    );
    await play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method === 'subscribe') {
          queueMicrotask(() => {
            client.records('r', spoilt.slice(0, 5));
          });
          return { lastSequence: 5 };
        }
        if (method !== 'stop') return undefined;
        client.records('r', spoilt.slice(5));
        return {};
      },
    });
    createRun('r');
    await coordinator.following.follow('r');
    expect(await coordinator.following.ended('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RECORD_INVALID',
        message: expect.stringContaining('record 4') as string,
      },
    });
    expect(storedRun('r')).toHaveLength(run.length);
    expect(heard).toEqual(storedRun('r'));
    await coordinator.close();
    expect(supervisor.requested('acknowledge').at(-1)!.body).toEqual({
      run: 'r',
      sequence: run.length,
    });
    expect(notices).toEqual([]);
  });

  test('records that are missing end their run, and no other', async () => {
    await play({
      runs: [supervised('r'), supervised('s')],
      answer: ({ method, body }, client) => {
        if (method !== 'subscribe') return undefined;
        const id = (body as { run: string }).run;
        queueMicrotask(() => {
          client.records(id, id === 'r' ? [...run.slice(0, 3), ...run.slice(7)] : run);
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    createRun('s');
    await coordinator.recover();
    expect(store.summary('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RECORDS_MISSING',
        message: 'record 8 follows record 3: those in between are missing',
      },
    });
    expect(storedRun('r')).toEqual(run.slice(0, 3));
    expect(store.summary('s').state).toBe('completed');
    // Nothing more of it can be stored.
    await until(
      () => supervisor.requested('stop'),
      (stops) => stops.length > 0,
      'the rest of the run to be stopped',
    );
    expect(supervisor.requested('stop').map(({ body }) => body)).toEqual([
      { run: 'r' },
    ]);
    expect(notices).toEqual([]);
  });

  /** Follows a run to its end, of which the supervisor sends this before its answer and after it. */
  async function followThrough(
    before: (client: ScriptedClient) => void,
    after: (client: ScriptedClient) => void,
  ): Promise<void> {
    await play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method !== 'subscribe') return undefined;
        before(client);
        queueMicrotask(() => {
          after(client);
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    await coordinator.following.follow('r');
    const { state } = await coordinator.following.ended('r');
    expect(state).toBe('completed');
    expect(storedRun('r')).toEqual(run);
    expect(heard).toEqual(run);
    expect(notices).toEqual([]);
  }

  test('what another process has stored and acknowledged is no gap', async () => {
    await followThrough(
      () => undefined,
      (client) => {
        client.records('r', run.slice(0, 3));
        store.append('r', run.slice(0, 9));
        // The journal begins after what was acknowledged.
        client.records('r', run.slice(9, 20));
        store.append('r', run.slice(0, 30));
        client.records('r', run.slice(25));
      },
    );
  });

  test('what is still on its way to an earlier follower is no gap', async () => {
    await followThrough(
      (client) => {
        client.records('r', run.slice(20, 25));
      },
      (client) => {
        client.records('r', run);
      },
    );
  });

  test('goes on where the supervisor is slow to say which runs it has', async () => {
    let connections = 0;
    let asked = 0;
    await play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method === 'runs') {
          asked++;
          if (asked !== 2) return undefined;
          throw failure('SUPERVISOR_TIMEOUT', 'no answer to runs');
        }
        if (method !== 'subscribe') return undefined;
        connections++;
        const first = connections === 1;
        queueMicrotask(() => {
          client.records('r', first ? run.slice(0, 9) : run);
          if (first) client.drop();
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    await coordinator.following.follow('r');
    expect(await coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
    expect(connections).toBe(2);
    expect(storedRun('r')).toEqual(run);
    expect(notices).toMatchObject([{ code: 'SUPERVISOR_TIMEOUT' }]);
  });
});

test('a stop ends what a machine still has of a run that is stored as ended', async () => {
  await play({
    runs: [supervised('r'), supervised('s', { phase: 'ended' })],
    answer: ({ method }) => (method === 'stop' ? {} : undefined),
  });
  for (const id of ['r', 's']) {
    createRun(id);
    store.fail(id, { code: 'X', kind: 'failure', message: 'gone' }, 5);
    await coordinator.orders.give(id, { type: 'stop' });
  }
  expect(supervisor.requested('stop').map(({ body }) => body)).toEqual([{ run: 'r' }]);
});

describe('following a run that the supervisor does not have', () => {
  test('leaves it be while another process is about to start it', async () => {
    await play({ runs: [] });
    createRun('r', ownName());
    await expect(coordinator.following.follow('r')).rejects.toMatchObject({
      code: 'RUN_STARTING',
    });
    expect(store.summary('r').state).toBe('starting');
  });

  test('stores it as lost if no supervisor runs', async () => {
    await play({ runs: [] });
    createRun('r');
    await coordinator.following.follow('r');
    expect(store.summary('r')).toMatchObject({ error: { code: 'RUN_LOST' } });
  });
});

describe('a run that another process stores to its end meanwhile', () => {
  const overtaken = async (): Promise<void> => {
    await play({
      runs: [supervised('r')],
      answer: ({ method }) => {
        if (method === 'runs') return undefined;
        store.append('r', run);
        throw inputError('RUN_UNKNOWN', 'the supervisor has no run "r"');
      },
    });
    createRun('r');
  };

  test('is as good as stopped', async () => {
    await overtaken();
    await coordinator.orders.give('r', { type: 'stop' });
  });

  test('is as good as followed', async () => {
    await overtaken();
    await coordinator.following.follow('r');
    expect(await coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
  });

  test('cannot be switched because it has ended', async () => {
    await overtaken();
    await expect(
      coordinator.orders.give('r', { type: 'switch', change: { method: 'topk' } }),
    ).rejects.toMatchObject({ code: 'RUN_ENDED' });
  });
});

describe('a run that another process stores to its end while it is followed again', () => {
  test('is reported to its end', async () => {
    let connections = 0;
    await play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method !== 'subscribe') return undefined;
        connections++;
        if (connections > 1) {
          store.append('r', run);
          throw inputError('RUN_UNKNOWN', 'there is no run r');
        }
        queueMicrotask(() => {
          client.records('r', run.slice(0, 20));
          client.drop();
        });
        return { lastSequence: run.length };
      },
    });
    createRun('r');
    await coordinator.following.follow('r');
    expect(await coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
    expect(connections).toBe(2);
    expect(heard).toEqual(run);
    expect(notices).toEqual([]);
  });
});

describe('recovery', () => {
  test('a run that the supervisor does not know has failed as lost', async () => {
    await play({ runs: [] });
    createRun('r');
    await coordinator.recover();
    expect(store.summary('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RUN_LOST',
        next: expect.stringContaining('relaunch r') as string,
      },
    });
  });

  test('a run that a living process is about to start is not lost', async () => {
    await play({ runs: [] });
    createRun('starting', ownName());
    await coordinator.recover();
    expect(store.summary('starting').state).toBe('starting');
  });

  test('a run that only the supervisor knows is taken in', async () => {
    await play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method !== 'subscribe') return undefined;
        queueMicrotask(() => {
          client.records('r', run);
        });
        return { lastSequence: run.length };
      },
    });
    await coordinator.recover();
    expect(store.summary('r')).toMatchObject({ state: 'completed', createdAt: 5 });
    expect(storedRun('r')).toEqual(run);
  });

  test('an ended run whose acknowledgement was lost is acknowledged again', async () => {
    await play({ runs: [supervised('r', { phase: 'ended' })] });
    createRun('r');
    store.append('r', run);
    await coordinator.recover();
    await coordinator.close();
    expect(supervisor.requested('acknowledge').map(({ body }) => body)).toEqual([
      { run: 'r', sequence: run.length },
    ]);
  });
});

test('what a machine says of runs that are not on it changes nothing', async () => {
  const away = { ...home, socket: `${home.socket}.box` };
  const on = (nodes: readonly string[]) =>
    sampleSpec({ iterations: 50, world: { ranks: 2, nodes } });
  const here = on(['this-computer']);
  const both = on(['box', 'this-computer']);
  const create = (id: string, of: typeof here): void => {
    store.create({ id, spec: of, switches: [], createdAt: 1 });
  };
  create('ended', here);
  store.append('ended', run);
  create('lost', here);
  store.fail('lost', failure('RUN_LOST', 'it is lost').toData(), 2);
  create('own', on(['box']));
  const before = ['ended', 'lost'].map((id) => [store.summary(id), storedRun(id)]);
  // Of each it says that it goes on there, on two machines.
  const claims = ['ended', 'lost', 'own'].map((id) =>
    supervised(id, { spec: both, lastSequence: 2 * run.length }),
  );
  const box = await ScriptedSupervisor.listen(away.socket, {
    runs: claims,
    answer: ({ method, body }, client) => {
      if (method !== 'subscribe') return undefined;
      const { run: id } = body as { run: string };
      queueMicrotask(() => {
        for (const claim of claims) client.send({ type: 'run', run: claim });
        for (const { run: claimed } of claims) client.records(claimed, run);
      });
      return { lastSequence: id === 'own' ? run.length : 2 * run.length };
    },
  });
  try {
    await play({ runs: [] }, 'all', [localNode(away, 'box')]);
    await coordinator.recover();
    expect(await coordinator.following.ended('own')).toMatchObject({
      state: 'completed',
    });
    expect(foundRuns(store, 'box', [...claims, supervised('new')])).toMatchObject([
      { id: 'own', here: 'ended' },
      { id: 'new', here: 'unknown' },
    ]);
    expect(['ended', 'lost'].map((id) => [store.summary(id), storedRun(id)])).toEqual(
      before,
    );
    expect(notices).toEqual([]);
    const asked = box.requests.filter(({ method }) => method !== 'runs');
    expect(asked.map(({ body }) => (body as { run?: string }).run)).toEqual(
      asked.map(() => 'own'),
    );
  } finally {
    await coordinator.close();
    await box.close();
  }
});

describe('launching', () => {
  const accept: Script['answer'] = ({ method, body }) => {
    if (method === 'validate') {
      return { spec: (body as { spec: unknown }).spec, switches: [] };
    }
    return undefined;
  };

  test('a node that does not exist is refused before any supervisor is asked', async () => {
    await play({});
    await expect(
      coordinator.launches.launch(
        parseExperimentSpec({
          ...spec,
          world: { ranks: 2, nodes: ['this-computr'] },
        }),
      ),
    ).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
      kind: 'input',
      next: 'Did you mean "this-computer"?',
    });
    expect(supervisor.requests).toEqual([]);
    expect(store.runs.list()).toEqual([]);
  });

  test('a spec that the agent refuses leaves no run behind', async () => {
    await play({
      answer: () => {
        throw failure('METHOD_UNKNOWN', 'no such method');
      },
    });
    await expect(coordinator.launches.launch(spec)).rejects.toMatchObject({
      code: 'METHOD_UNKNOWN',
    });
    expect(store.runs.list()).toEqual([]);
  });

  test('what keeps the ranks from starting is the run’s error', async () => {
    await play({
      answer: (request, client) => {
        if (request.method === 'prepare') throw failure('WORKER_DIED', 'rank 1 died');
        return accept(request, client);
      },
    });
    await expect(coordinator.launches.launch(spec)).rejects.toMatchObject({
      code: 'WORKER_DIED',
    });
    expect(store.runs.list()).toMatchObject([
      { state: 'failed', error: { code: 'WORKER_DIED' } },
    ]);
  });

  test('every rank is prepared once, with one secret of 32 bytes', async () => {
    const address = (rank: number) => ({ host: '127.0.0.1', port: 1000 + rank });
    await play({
      answer: (request, client) => {
        switch (request.method) {
          case 'prepare':
            return {
              addresses: [1, 0].map((rank) => ({ rank, address: address(rank) })),
            };
          case 'begin':
            return {};
          case 'subscribe':
            return { lastSequence: 0 };
          default:
            return accept(request, client);
        }
      },
    });
    await coordinator.launches.launch(spec);
    const [prepare] = supervisor.requested('prepare');
    expect(prepare!.body).toMatchObject({
      ranks: [0, 1],
      places: [0, 0],
      switches: [],
    });
    expect((prepare!.body as { secret: Uint8Array }).secret).toHaveLength(32);
    expect(supervisor.requested('begin')[0]!.body).toMatchObject({
      addresses: [address(0), address(1)],
    });
  });
});

describe('the connection', () => {
  const handlers = { run: () => undefined, lost: () => undefined };

  test('another protocol version is named, with the process to blame', async () => {
    await play({ hello: { protocol: 99, reading: 98, version: '9.9', pid: 4711 } });
    await expect(connectSupervisor(home, handlers)).rejects.toMatchObject({
      code: 'PROTOCOL_MISMATCH',
      message: expect.stringMatching(/process 4711, version 9\.9.* 99/) as string,
    });
  });

  test('a supervisor of another version is read; a record that is new to us ends no run', async () => {
    const news = { type: 'weather', at: 7, sunny: true } as unknown as RunRecord;
    const entries = run.map((entry) =>
      entry.sequence === 3 ? { ...entry, record: news } : entry,
    );
    await play({
      hello: { protocol: 99, reading: 1, version: '9.9', pid: 4711, host: 'box' },
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method === 'stop') return {};
        if (method !== 'subscribe') return undefined;
        queueMicrotask(() => {
          client.records('r', entries.slice(0, -1));
        });
        return { lastSequence: run.length - 1 };
      },
    });
    createRun('r');
    await coordinator.recover();
    await coordinator.orders.give('r', { type: 'stop' });
    expect(supervisor.requested('stop')).toHaveLength(1);
    const known = storedRun('r').map(({ record }) => record);
    expect(known).toHaveLength(run.length - 1);
    expect(known[2]).toMatchObject({
      type: 'notice',
      at: 7,
      code: 'RECORD_UNKNOWN',
      message: expect.stringContaining('"weather"') as string,
    });
    expect(store.summary('r').state).toBe('running');

    await expect(
      coordinator.orders.give('r', { type: 'switch', change: { method: 'topk' } }),
    ).rejects.toMatchObject({
      code: 'SUPERVISOR_OTHER_VERSION',
      message: expect.stringMatching(
        /supervisor on this computer \(process 4711\) has version 9\.9, and run r is in progress there/,
      ) as string,
      next: expect.stringContaining('use Gradwire 9.9') as string,
    });
    expect(supervisor.requested('switch')).toEqual([]);
  });

  test('a request without an answer ends at its deadline', async () => {
    await play({});
    const connection = await connectSupervisor(home, handlers);
    expect(connection).toBeInstanceOf(ControlConnection);
    await expect(connection!.request('stop', { run: 'r' }, 30)).rejects.toMatchObject({
      code: 'SUPERVISOR_TIMEOUT',
      message: 'no answer to stop in 30 ms',
    });
    await connection!.close();
  });

  test('what waits when the line is cut fails, and so does what comes later', async () => {
    await play({
      answer: (_, client) => {
        client.drop();
        return undefined;
      },
    });
    const lost = Promise.withResolvers<ErrorData>();
    const connection = await connectSupervisor(home, {
      ...handlers,
      lost: lost.resolve,
    });
    const code = { code: 'SUPERVISOR_LOST' };
    await expect(connection!.request('stop', { run: 'r' })).rejects.toMatchObject(code);
    expect(await lost.promise).toMatchObject(code);
    await expect(connection!.request('runs', {})).rejects.toMatchObject(code);
    await connection!.close();
  });

  test('a message from another world ends the connection with a name', async () => {
    await play({
      answer: (_, client) => {
        client.sendRaw(Uint8Array.of(4, 0, 0, 0, 1, 2, 3, 4));
        return undefined;
      },
    });
    const connection = await connectSupervisor(home, handlers);
    await expect(connection!.request('runs', {})).rejects.toMatchObject({
      code: expect.stringMatching(/FRAME_INVALID|PROTOCOL_MISMATCH/) as string,
    });
    await connection!.close();
  });

  test.each<[string, unknown, RegExp]>([
    ['nil', null, /expected a section/],
    ['nil as a record', { type: 'records', run: 'r', entries: [null] }, /entries: /],
    ['no records', { type: 'records', run: 'r', entries: [] }, /entries: /],
    ['a list as a run', { type: 'run', run: ['r'] }, /run: /],
    [
      'a run without a phase',
      { type: 'run', run: { run: 'r' } },
      /run\.phase is missing/,
    ],
    [
      'a path as a run',
      { type: 'records', run: '../x', entries: [] },
      /run: a run’s id/,
    ],
  ])('%s in place of a push ends the connection alone', async (_, message, why) => {
    await play({
      // Read by a version that looks into each record.
      hello: { protocol: 99 },
      answer: (_request, client) => {
        client.sendRaw(encodeFrame(message));
        return undefined;
      },
    });
    const connection = await connectSupervisor(home, handlers);
    await expect(connection!.request('runs', {})).rejects.toMatchObject({
      code: 'PROTOCOL_MISMATCH',
      message: expect.stringMatching(why) as string,
    });
    await connection!.close();
  });
});
