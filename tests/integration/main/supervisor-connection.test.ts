/** The connection to a supervisor of another version, or one that breaks or says what it may not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { encodeFrame } from '../../../src/shared/protocol/frame.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { run, ScriptedCoordinator, supervised } from './scripted-coordinator.ts';

let scripted: ScriptedCoordinator;
beforeEach(async () => {
  scripted = await ScriptedCoordinator.open();
});
afterEach(() => scripted.close());

describe('the connection', () => {
  const handlers = { run: () => undefined, lost: () => undefined };

  test('another protocol version is named, with the process to blame', async () => {
    await scripted.play({
      hello: { protocol: 99, reading: 98, version: '9.9', pid: 4711 },
    });
    await expect(connectSupervisor(scripted.home, handlers)).rejects.toMatchObject({
      code: 'PROTOCOL_MISMATCH',
      message: expect.stringMatching(/process 4711, version 9\.9.* 99/) as string,
    });
  });

  test('a supervisor of another version is read; a record that is new to us ends no run', async () => {
    const news = { type: 'weather', at: 7, sunny: true } as unknown as RunRecord;
    const entries = run.map((entry) =>
      entry.sequence === 3 ? { ...entry, record: news } : entry,
    );
    await scripted.play({
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
    scripted.createRun('r');
    await scripted.coordinator.recover();
    await scripted.coordinator.orders.give('r', { type: 'stop' });
    expect(scripted.supervisor.requested('stop')).toHaveLength(1);
    const known = scripted.storedRun('r').map(({ record }) => record);
    expect(known).toHaveLength(run.length - 1);
    expect(known[2]).toMatchObject({
      type: 'notice',
      at: 7,
      code: 'RECORD_UNKNOWN',
      message: expect.stringContaining('"weather"') as string,
    });
    expect(scripted.store.summary('r').state).toBe('running');

    await expect(
      scripted.coordinator.orders.give('r', {
        type: 'switch',
        change: { method: 'topk' },
      }),
    ).rejects.toMatchObject({
      code: 'SUPERVISOR_OTHER_VERSION',
      message: expect.stringMatching(
        /supervisor on this computer \(process 4711\) has version 9\.9, and run r is in progress there/,
      ) as string,
      next: expect.stringContaining('use Gradwire 9.9') as string,
    });
    expect(scripted.supervisor.requested('switch')).toEqual([]);
  });

  test('a request without an answer ends at its deadline', async () => {
    await scripted.play({});
    const connection = await connectSupervisor(scripted.home, handlers);
    expect(connection).toBeInstanceOf(ControlConnection);
    await expect(connection!.request('stop', { run: 'r' }, 30)).rejects.toMatchObject({
      code: 'SUPERVISOR_TIMEOUT',
      message: 'no answer to stop in 30 ms',
    });
    await connection!.close();
  });

  test('what waits when the line is cut fails, and so does what comes later', async () => {
    await scripted.play({
      answer: (_, client) => {
        client.drop();
        return undefined;
      },
    });
    const lost = Promise.withResolvers<ErrorData>();
    const connection = await connectSupervisor(scripted.home, {
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
    await scripted.play({
      answer: (_, client) => {
        client.sendRaw(Uint8Array.of(4, 0, 0, 0, 1, 2, 3, 4));
        return undefined;
      },
    });
    const connection = await connectSupervisor(scripted.home, handlers);
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
    await scripted.play({
      // Read by a version that looks into each record.
      hello: { protocol: 99 },
      answer: (_request, client) => {
        client.sendRaw(encodeFrame(message));
        return undefined;
      },
    });
    const connection = await connectSupervisor(scripted.home, handlers);
    await expect(connection!.request('runs', {})).rejects.toMatchObject({
      code: 'PROTOCOL_MISMATCH',
      message: expect.stringMatching(why) as string,
    });
    await connection!.close();
  });
});
