/** A run whose client goes while a job is submitted for it. */
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, test } from 'vitest';
import { ClientSession } from '../../../src/agent/supervisor/door/client-session.ts';
import type { RunTable } from '../../../src/agent/supervisor/runs/run-table.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { FromSupervisor } from '../../../src/shared/protocol/supervisor.ts';
import { sampleSpec } from '../main/sample-records.ts';

async function prepare() {
  const submitted = Promise.withResolvers<undefined>();
  const asked = Promise.withResolvers<undefined>();
  const errors: string[] = [];
  const run = {
    beginsByItself: true,
    get queued() {
      asked.resolve(undefined);
      return submitted.promise;
    },
    abort: ({ code }: ErrorData) => errors.push(code),
  };
  const table = {
    reading: (_: string, work: Promise<unknown>) => work,
    create: () => run,
  } as unknown as RunTable;
  const [here, there] = duplexPair();
  const session = new ClientSession(there as unknown as Socket, table, '1');
  const decoder = new FrameDecoder();
  const answered = Promise.withResolvers<unknown>();
  here.on('data', (chunk: Uint8Array) => {
    for (const message of decoder.push(chunk) as Iterable<FromSupervisor>) {
      if (message.type === 'reply') answered.resolve(message.body);
      if (message.type === 'error') answered.reject(new Error(message.error.message));
    }
  });
  const body = {
    run: 'r',
    spec: sampleSpec(),
    switches: [],
    ranks: [0],
    secret: new Uint8Array(32),
  };
  here.write(encodeFrame({ type: 'request', id: 1, method: 'prepare', body }));
  await Promise.race([asked.promise, answered.promise]);
  return { answered: answered.promise, errors, session, submitted };
}

test('ends with it: nobody knows that it was queued', async () => {
  const { errors, session } = await prepare();
  session.close();
  expect(errors).toEqual(['RUN_ABANDONED']);
});

test('goes on by itself once the client knows that it is queued', async () => {
  const { answered, errors, session, submitted } = await prepare();
  submitted.resolve(undefined);
  expect(await answered).toEqual({ addresses: [], queued: true });
  session.close();
  expect(errors).toEqual([]);
});
