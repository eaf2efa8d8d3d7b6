/** The store under several processes, sudden death and a disk that takes no more. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { effort } from '../../harness/effort.ts';
import { wholeRun } from '../../unit/main/sample-records.ts';

const writer = path.join(import.meta.dirname, 'store-writer.ts');
let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-store-'));
  file = path.join(directory, 'gradwire.db');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function stored(): JournalEntry[] {
  const store = RunStore.open(file);
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = store.reads.entriesAfter('r', entries.length);
    if (page.length === 0) break;
    entries.push(...page);
  }
  expect(store.lastSequence('r')).toBe(entries.length);
  store.close();
  return entries;
}

// The larger ones also fill blocks.
const cuts = [
  { commits: 7, batch: 10 },
  { commits: 5, batch: 500 },
  { commits: 1, batch: 10 },
  { commits: 40, batch: 10 },
  { commits: 9, batch: 500 },
];
test.each(cuts.slice(0, effort({ quick: 2, soak: cuts.length })))(
  'kill -9 after $commits commits of $batch loses nothing that was committed',
  async ({ commits, batch }) => {
    const child = spawn(process.execPath, [writer, file, '5000', `${batch}`]);
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.split('\n').length > commits) child.kill('SIGKILL');
    });
    const [, signal] = (await once(child, 'close')) as [unknown, string];
    expect(signal).toBe('SIGKILL');
    const committed = Number(seen.trimEnd().split('\n').at(-1));
    const entries = stored();
    expect(entries.length).toBeGreaterThanOrEqual(committed);
    expect(entries).toEqual(wholeRun(5000).slice(0, entries.length));
  },
);

test('two processes that store the same run at once store it once', async () => {
  const writers = ['70', '130'].map((size) =>
    spawn(process.execPath, [writer, file, '2000', size], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const codes = await Promise.all(
    writers.map(async (child) => ((await once(child, 'close')) as [number])[0]),
  );
  expect(codes).toEqual([0, 0]);
  expect(stored()).toEqual(wholeRun(2000));
});

test('a full disk is a coded error and keeps what was committed', async () => {
  // A limit on the file size is what a disk without room looks like to SQLite.
  const limited = 'ulimit -f 400; exec "$@"';
  const argv = [process.execPath, writer, file, '5000', '10'];
  const child = spawn('bash', ['-c', limited, 'bash', ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  expect(lines.at(-1)).toBe('DATABASE_WRITE_FAILED');
  const committed = Number(lines.at(-2));
  expect(committed).toBeGreaterThan(0);
  expect(stored()).toEqual(wholeRun(5000).slice(0, committed));
});
