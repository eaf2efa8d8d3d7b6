/** Journals where the disk takes no more; a limit on the size of files stands in for it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const script = path.join(import.meta.dirname, 'journal-process.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-journal-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs the script where no file can grow beyond 1 KiB. */
async function withoutSpace(action: string, file: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    'ulimit -f 1; trap "" XFSZ; exec "$@"',
    'bash',
    process.execPath,
    script,
    action,
    file,
  ]);
  return JSON.parse(stdout);
}

it('leaves nothing of a write that failed behind the entries that follow', async () => {
  const file = path.join(folder, 'j');
  expect(await withoutSpace('overflow', file)).toBe('JOURNAL_WRITE_FAILED');
  const journal = Journal.reopen(file);
  expect(journal.lastSequence).toBe(2);
  expect(journal.lastRecord).toMatchObject({ code: 'last' });
  journal.close();
});

it('takes over a journal to which nothing can be added', async () => {
  const file = path.join(folder, 'j');
  const journal = Journal.create(file);
  const record: RunRecord = {
    type: 'notice',
    at: 1,
    level: 'info',
    code: 'A',
    message: 'a'.repeat(2000),
  };
  journal.append([record]);
  journal.close();
  const { size } = statSync(file);
  const entries = (await withoutSpace('restore', file)) as JournalEntry[];
  expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(entries[1]!.record).toMatchObject({
    type: 'failed',
    error: { code: 'SUPERVISOR_LOST' },
  });
  expect(statSync(file).size).toBe(size);
});
