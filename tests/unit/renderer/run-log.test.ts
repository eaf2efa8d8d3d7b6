/** The page's log: what was pushed is not read again, and no line is missing. */
import { expect, test } from 'vitest';
import { RunLog } from '../../../src/renderer/state/runs/run-log.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { iterationRecord } from './records.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

const LOST: ErrorData = { code: 'CONNECTION_LOST', kind: 'failure', message: 'lost' };

/** The log of a run with some records: iterations (`.`) and lines (`-`). */
async function logged(beginning: string) {
  const host = new ScriptedHost();
  const entries: JournalEntry[] = [];
  const store = (kinds: string): readonly JournalEntry[] => {
    const first = entries.length;
    for (const kind of kinds) {
      const at = entries.length + 1;
      const line = { type: 'log', at, rank: 0, stream: 'stderr', text: '' };
      const record = kind === '.' ? iterationRecord({ rank: 0, iteration: at }) : line;
      entries.push({ sequence: at, record } as JournalEntry);
    }
    return entries.slice(first);
  };
  /** Answers the reads that are asked for. @returns their number */
  const read = async (): Promise<number> => {
    let reads = 0;
    for (; host.waiting('runLog').length > 0; reads++) {
      const asked = host.next('runLog');
      const after = asked.args[1] as number;
      const isNew = ({ record, sequence }: JournalEntry): boolean =>
        record.type === 'log' && sequence > after;
      await asked.answer(entries.filter(isNew));
    }
    return reads;
  };
  store(beginning);
  const log = new RunLog(host.connection, 'run');
  await read();
  return {
    host,
    log,
    read,
    store,
    push: async (kinds: string): Promise<void> => {
      host.tell('records', 'run', store(kinds));
      await settle();
    },
    lines: (): readonly number[] => log.lines.map(({ sequence }) => sequence),
  };
}

test('pushes that follow each other are not read, whatever records they have', async () => {
  const { lines, log, push, read } = await logged('-....');
  // What is between the line and this push is not known.
  await push('.-.');
  expect(await read()).toBeGreaterThan(0);
  for (const kinds of ['...', '.-', '..', '-']) {
    await push(kinds);
    expect(await read()).toBe(0);
  }
  expect(lines()).toEqual([1, 7, 13, 16]);
  log.close();
});

test('lines that were missed are read, and those that come meanwhile', async () => {
  const { host, lines, log, push, read, store } = await logged('');
  await push('-.');
  store('.-.');
  await push('-.');
  await push('-.');
  expect(await read()).toBeGreaterThan(0);
  await push('.-');
  expect(await read()).toBe(0);
  expect(lines()).toEqual([1, 4, 6, 8, 11]);
  host.tell('resync');
  await read();
  expect(lines()).toEqual([1, 4, 6, 8, 11]);
  log.close();
});

test('lines that were pushed while a read failed are read by the next', async () => {
  const { host, lines, log, push, read, store } = await logged('');
  store('.-');
  await push('.-');
  await host.next('runLog').fail(LOST);
  expect(lines()).toEqual([]);
  host.tell('resync');
  await read();
  expect(lines()).toEqual([2, 4]);
  log.close();
});
