/** The coordinator follows runs of a supervisor that breaks at chosen moments. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownName } from '../../../src/main/home/process-name.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { failure, inputError } from '../../../src/shared/errors/errors.ts';
import { until } from '../../harness/processes.ts';
import { run, ScriptedCoordinator, supervised } from './scripted-coordinator.ts';
import type { ScriptedClient } from './scripted-supervisor.ts';

let scripted: ScriptedCoordinator;
beforeEach(async () => {
  scripted = await ScriptedCoordinator.open();
});
afterEach(() => scripted.close());

describe('following a run', () => {
  test('through broken connections and repeated records, all are stored and told once', async () => {
    let connections = 0;
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    const summary = await scripted.coordinator.following.ended('r');
    expect(summary).toMatchObject({ state: 'completed', iterations: 50 });
    expect(connections).toBe(6);
    expect(scripted.storedRun('r')).toEqual(run);
    expect(scripted.heard).toEqual(run);
    expect(scripted.notices).toEqual([]);
  });

  test('acknowledges only what another process can read', async () => {
    const reader = RunStore.open(scripted.home.database);
    const checks: boolean[] = [];
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.recover();
    await scripted.coordinator.close();
    expect(checks).toEqual([true]);
    expect(scripted.supervisor.requested('acknowledge')[0]!.body).toEqual({
      run: 'r',
      sequence: run.length,
    });
    reader.close();
  });

  test('an invalid record ends its run as failed, stopped and completely stored', async () => {
    const spoilt = run.map((entry) =>
      entry.sequence === 4 ? { ...entry, record: { type: 'speed' } as never } : entry,
    );
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    expect(await scripted.coordinator.following.ended('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RECORD_INVALID',
        message: expect.stringContaining('record 4') as string,
      },
    });
    expect(scripted.storedRun('r')).toHaveLength(run.length);
    expect(scripted.heard).toEqual(scripted.storedRun('r'));
    await scripted.coordinator.close();
    expect(scripted.supervisor.requested('acknowledge').at(-1)!.body).toEqual({
      run: 'r',
      sequence: run.length,
    });
    expect(scripted.notices).toEqual([]);
  });

  test('records that are missing end their run, and no other', async () => {
    await scripted.play({
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
    scripted.createRun('r');
    scripted.createRun('s');
    await scripted.coordinator.recover();
    expect(scripted.store.summary('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RECORDS_MISSING',
        message: 'record 8 follows record 3: those in between are missing',
      },
    });
    expect(scripted.storedRun('r')).toEqual(run.slice(0, 3));
    expect(scripted.store.summary('s').state).toBe('completed');
    // Nothing more of it can be stored.
    await until(
      () => scripted.supervisor.requested('stop'),
      (stops) => stops.length > 0,
      'the rest of the run to be stopped',
    );
    expect(scripted.supervisor.requested('stop').map(({ body }) => body)).toEqual([
      { run: 'r' },
    ]);
    expect(scripted.notices).toEqual([]);
  });

  /** Follows a run to its end, of which the supervisor sends this before its answer and after it. */
  async function followThrough(
    before: (client: ScriptedClient) => void,
    after: (client: ScriptedClient) => void,
  ): Promise<void> {
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    const { state } = await scripted.coordinator.following.ended('r');
    expect(state).toBe('completed');
    expect(scripted.storedRun('r')).toEqual(run);
    expect(scripted.heard).toEqual(run);
    expect(scripted.notices).toEqual([]);
  }

  test('what another process has stored and acknowledged is no gap', async () => {
    await followThrough(
      () => undefined,
      (client) => {
        client.records('r', run.slice(0, 3));
        scripted.store.records.append('r', run.slice(0, 9));
        // The journal begins after what was acknowledged.
        client.records('r', run.slice(9, 20));
        scripted.store.records.append('r', run.slice(0, 30));
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
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    expect(await scripted.coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
    expect(connections).toBe(2);
    expect(scripted.storedRun('r')).toEqual(run);
    expect(scripted.notices).toMatchObject([{ code: 'SUPERVISOR_TIMEOUT' }]);
  });
});

test('a stop ends what a machine still has of a run that is stored as ended', async () => {
  await scripted.play({
    runs: [supervised('r'), supervised('s', { phase: 'ended' })],
    answer: ({ method }) => (method === 'stop' ? {} : undefined),
  });
  for (const id of ['r', 's']) {
    scripted.createRun(id);
    scripted.store.fail(id, { code: 'X', kind: 'failure', message: 'gone' }, 5);
    await scripted.coordinator.orders.give(id, { type: 'stop' });
  }
  expect(scripted.supervisor.requested('stop').map(({ body }) => body)).toEqual([
    { run: 'r' },
  ]);
});

describe('following a run that the supervisor does not have', () => {
  test('leaves it be while another process is about to start it', async () => {
    await scripted.play({ runs: [] });
    scripted.createRun('r', ownName());
    await expect(scripted.coordinator.following.follow('r')).rejects.toMatchObject({
      code: 'RUN_STARTING',
    });
    expect(scripted.store.summary('r').state).toBe('starting');
  });

  test('stores it as lost if no supervisor runs', async () => {
    await scripted.play({ runs: [] });
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    expect(scripted.store.summary('r')).toMatchObject({ error: { code: 'RUN_LOST' } });
  });
});

describe('a run that another process stores to its end meanwhile', () => {
  const overtaken = async (): Promise<void> => {
    await scripted.play({
      runs: [supervised('r')],
      answer: ({ method }) => {
        if (method === 'runs') return undefined;
        scripted.store.records.append('r', run);
        throw inputError('RUN_UNKNOWN', 'the supervisor has no run "r"');
      },
    });
    scripted.createRun('r');
  };

  test('is as good as stopped', async () => {
    await overtaken();
    await scripted.coordinator.orders.give('r', { type: 'stop' });
  });

  test('is as good as followed', async () => {
    await overtaken();
    await scripted.coordinator.following.follow('r');
    expect(await scripted.coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
  });

  test('cannot be switched because it has ended', async () => {
    await overtaken();
    await expect(
      scripted.coordinator.orders.give('r', {
        type: 'switch',
        change: { method: 'topk' },
      }),
    ).rejects.toMatchObject({ code: 'RUN_ENDED' });
  });
});

describe('a run that another process stores to its end while it is followed again', () => {
  test('is reported to its end', async () => {
    let connections = 0;
    await scripted.play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method !== 'subscribe') return undefined;
        connections++;
        if (connections > 1) {
          scripted.store.records.append('r', run);
          throw inputError('RUN_UNKNOWN', 'there is no run r');
        }
        queueMicrotask(() => {
          client.records('r', run.slice(0, 20));
          client.drop();
        });
        return { lastSequence: run.length };
      },
    });
    scripted.createRun('r');
    await scripted.coordinator.following.follow('r');
    expect(await scripted.coordinator.following.ended('r')).toMatchObject({
      state: 'completed',
    });
    expect(connections).toBe(2);
    expect(scripted.heard).toEqual(run);
    expect(scripted.notices).toEqual([]);
  });
});
