/** A main that reads slowly while it catches up: the supervisor's side of its socket. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ClientSession } from '../../../src/agent/supervisor/door/client-session.ts';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RunTable } from '../../../src/agent/supervisor/runs/run-table.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { FromSupervisor } from '../../../src/shared/protocol/supervisor.ts';
import { done, entries, sampleSpec } from '../../unit/main/sample-records.ts';

const RECORDS = 240;
const RECORD_BYTES = 100_000;
/** Of all but the last long record of both runs. */
const BYTES = 2 * (RECORDS - 2) * RECORD_BYTES;
const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-slow-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** A journal of 24 MB: several times what a socket may be behind. */
function leaveRun(id: string): void {
  const folder = path.join(directory, id);
  mkdirSync(folder);
  const meta = { spec: sampleSpec(), createdAt: 1 };
  writeFileSync(path.join(folder, 'run.json'), JSON.stringify(meta));
  const journal = Journal.create(path.join(folder, 'journal.gwj'));
  const message = 'x'.repeat(RECORD_BYTES);
  for (let i = 1; i < RECORDS; i++) {
    journal.append([{ type: 'notice', at: 1, level: 'info', code: 'LONG', message }]);
  }
  journal.append([done]);
  journal.close();
}

test('many waits for it leave no listeners behind, and nothing is lost', async () => {
  leaveRun('a');
  leaveRun('b');
  const runs = new RunTable(
    directory,
    () => undefined,
    (warning) => {
      throw new Error(warning);
    },
  );
  runs.restore();
  const accepted = Promise.withResolvers<net.Socket>();
  const server = net.createServer((socket) => {
    accepted.resolve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const socket = await accepted.promise;
  // As for every client of a supervisor: what goes wrong with it is over with it.
  socket.on('error', () => undefined);
  const listeners = () =>
    ['close', 'drain'].map((event) => socket.listenerCount(event));
  const before = listeners();
  const session = new ClientSession(socket, runs, '0');
  // The client reads in fits: after each drain it rests until much waits for it again, or
  // until no more comes.
  let drains = 0;
  socket.on('drain', () => {
    drains++;
    client.pause();
  });
  const fits = setInterval(() => {
    const isLast = socket.bytesWritten > BYTES;
    if (socket.writableLength > 4 * 2 ** 20 || isLast) client.resume();
  }, 20);
  for (const [index, run] of ['a', 'b'].entries()) {
    const body = { run, after: 0 };
    client.write(
      encodeFrame({ type: 'request', id: index, method: 'subscribe', body }),
    );
  }
  const sequences: Record<string, number[]> = { a: [], b: [] };
  const decoder = new FrameDecoder();
  const complete = Promise.withResolvers<undefined>();
  client.on('data', (chunk) => {
    for (const raw of decoder.push(chunk)) {
      const message = raw as FromSupervisor;
      if (message.type !== 'records') continue;
      sequences[message.run]!.push(...message.entries.map(({ sequence }) => sequence));
    }
    if (Object.values(sequences).every(({ length }) => length === RECORDS)) {
      complete.resolve(undefined);
    }
  });
  client.pause();
  await complete.promise;
  clearInterval(fits);
  const all = entries(Array.from({ length: RECORDS }, () => done));
  const expected = all.map(({ sequence }) => sequence);
  expect(sequences).toEqual({ a: expected, b: expected });
  expect(drains).toBeGreaterThan(2);
  const [close, drain] = before as [number, number];
  expect(listeners()).toEqual([close, drain + 1]);
  session.close();
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
