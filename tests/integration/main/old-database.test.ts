/**
 * A database of the version before blocks: it is read as it was from the first moment on, and
 * its records move into blocks in steps that may be cut anywhere.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { sampleSpec, wholeRun } from '../../unit/main/sample-records.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-old-'));
const file = path.join(directory, 'gradwire.db');
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const MIGRATIONS = path.resolve(
  import.meta.dirname,
  '../../../src/main/store/migrations',
);
const OLD_VERSION = 10;
const RUNS = { ended: wholeRun(3000), going: wholeRun(1500).slice(0, -1) };

/** A database as version 10 wrote it: every record a row of JSON. */
async function makeOld(): Promise<void> {
  const old = new Database(file);
  old.pragma('journal_mode = WAL');
  for (const name of readdirSync(MIGRATIONS).sort().slice(0, OLD_VERSION)) {
    const module = (await import(path.join(MIGRATIONS, name))) as Record<
      string,
      string
    >;
    old.exec(Object.values(module)[0]!);
  }
  old.pragma(`user_version = ${OLD_VERSION}`);
  old.transaction(() => {
    for (const [index, [id, entries]] of Object.entries(RUNS).entries()) {
      const spec = JSON.stringify(sampleSpec());
      const number = index + 1;
      const state = id === 'ended' ? 'completed' : 'running';
      old
        .prepare(
          `INSERT INTO runs (number, id, name, spec, switches, state, created_at, last_sequence,
            iterations_planned, ranks, model, dataset, methods)
          VALUES (?, ?, 'old', ?, '[]', ?, 1, ?, 10, 2, 'fnn3', 'digits', '["none"]')`,
        )
        .run(number, id, spec, state, entries.length);
      old
        .prepare('INSERT INTO journals (run, node, last_sequence) VALUES (?, ?, ?)')
        .run(number, sampleSpec().world.nodes[0], entries.length);
      const iteration = old.prepare('INSERT INTO iterations VALUES (?, ?, ?, ?, ?)');
      const event = old.prepare('INSERT INTO events VALUES (?, ?, ?)');
      for (const { sequence, record } of entries) {
        const json = JSON.stringify(record);
        if (record.type !== 'iteration') event.run(number, sequence, json);
        else iteration.run(number, record.iteration, record.rank, sequence, json);
      }
    }
  })();
  old.close();
}

function stored(store: RunStore, id: string): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = store.reads.entriesAfter(id, entries.length);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

test(
  'an old database is whole after any cut, and small in the end',
  { tags: 'soak' },
  async () => {
    await makeOld();
    const before = statSync(file).size;
    const script = path.join(import.meta.dirname, 'compacting.ts');
    // Killed as soon as enough lines are out: the step after it is somewhere in the middle.
    for (const lines of [1, 2, 4, Infinity]) {
      const child = spawn(process.execPath, [script, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let seen = '';
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (seen.split('\n').length > lines) child.kill('SIGKILL');
      });
      const [, signal] = (await once(child, 'close')) as [unknown, string | null];
      expect(signal).toBe(lines === Infinity ? null : 'SIGKILL');
      const store = RunStore.open(file);
      expect(stored(store, 'ended')).toEqual(RUNS.ended);
      expect(stored(store, 'going')).toEqual(RUNS.going);
      store.close();
    }

    const store = RunStore.open(file);
    expect(store.summary('ended').bytes).toBeLessThan(before / 10);
    // The run in progress goes on where it was.
    const last = RUNS.going.length;
    const next = wholeRun(1500).slice(last - 3);
    expect(store.records.append('going', next).summary.state).toBe('completed');
    expect(stored(store, 'going')).toEqual(wholeRun(1500));
    while (store.space.compact()) continue;
    store.close();
    expect(statSync(file).size).toBeLessThan(before / 4);
    const raw = new Database(file, { readonly: true });
    expect(raw.prepare('SELECT count(*) FROM iterations').pluck().get()).toBe(0);
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(raw.pragma('foreign_key_check')).toEqual([]);
    raw.close();
  },
);
