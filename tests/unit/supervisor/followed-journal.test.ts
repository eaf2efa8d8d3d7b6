/** A client that follows a run gets every record, also those of the moment between replay and live. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { duplexPair } from 'node:stream';
import { expect, test } from 'vitest';
import { ClientSession } from '../../../src/agent/supervisor/door/client-session.ts';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import type { RunListener } from '../../../src/agent/supervisor/runs/run-options.ts';
import type { RunTable } from '../../../src/agent/supervisor/runs/run-table.ts';
import type { SupervisedRun } from '../../../src/agent/supervisor/runs/supervised-run.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { FromSupervisor } from '../../../src/shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const notice = (message: string): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code: 'DATA',
  message,
});

test('a record of the moment after the replay has read its last is sent', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gradwire-replay-'));
  const journal = Journal.create(path.join(folder, 'journal.gwj'));
  let listener: RunListener | undefined;
  const append = (message: string): void => {
    const entries = journal.append([notice(message)]);
    listener?.entries(entries);
  };
  append('before');
  /** As when a rank's report continues between the end of the replay and what follows it. */
  async function* readAfter(
    after: number,
    to: number,
  ): AsyncGenerator<readonly JournalEntry[]> {
    yield* journal.readAfter(after, to);
    if (journal.lastSequence === 1) append('between');
  }
  const run = {
    state: { run: 'run' },
    journal: {
      get durableSequence() {
        return journal.lastSequence;
      },
      readAfter,
    },
    follow: (given: RunListener) => {
      listener = given;
      return () => undefined;
    },
  } as unknown as SupervisedRun;
  const table = { find: () => run } as unknown as RunTable;
  const [here, there] = duplexPair();
  const session = new ClientSession(there as unknown as Socket, table, '1');
  const decoder = new FrameDecoder();
  const texts: string[] = [];
  const live = Promise.withResolvers<undefined>();
  here.on('data', (chunk: Uint8Array) => {
    for (const message of decoder.push(chunk) as Iterable<FromSupervisor>) {
      if (message.type === 'run') live.resolve(undefined);
      if (message.type !== 'records') continue;
      for (const { record } of message.entries) {
        if (record.type === 'notice') texts.push(record.message);
      }
    }
  });
  const body = { run: 'run', after: 0 };
  here.write(encodeFrame({ type: 'request', id: 1, method: 'subscribe', body }));
  await live.promise;
  append('live');
  await expect.poll(() => texts).toEqual(['before', 'between', 'live']);
  session.close();
  journal.close();
  rmSync(folder, { recursive: true });
});
