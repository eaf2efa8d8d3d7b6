/** The history on a disk that cannot be written, which is read from a copy. */
import { copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../src/disk/temporary-directory.ts';
import { openCopy, openDatabase } from '../../../src/main/store/database.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory('gradwire-copied-');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

it('shows nothing of a transaction that was cut short with its rollback journal', () => {
  const file = path.join(directory, 'gradwire.db');
  openDatabase(file).database.close();
  const writer = new Database(file);
  writer.pragma('journal_mode = TRUNCATE');
  const rows = (database: Database.Database): unknown =>
    database.prepare('SELECT count(*) AS rows, total(x) AS sum FROM sample').get();
  writer.exec(`CREATE TABLE sample (x INTEGER, filling TEXT);
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000)
    INSERT INTO sample SELECT x, hex(zeroblob(500)) FROM n`);
  const before = rows(writer);
  // Pages reach the file before the transaction is over.
  writer.pragma('cache_size = 5');
  writer.exec('BEGIN IMMEDIATE; UPDATE sample SET x = x + 1000000');
  const disk = path.join(directory, 'disk');
  mkdirSync(disk);
  for (const suffix of ['', '-journal'])
    copyFileSync(file + suffix, path.join(disk, `gradwire.db${suffix}`));
  expect(statSync(`${file}-journal`).size).toBeGreaterThan(0);
  writer.exec('ROLLBACK');
  writer.close();

  const database = openCopy(path.join(disk, 'gradwire.db'));
  expect(rows(database)).toEqual(before);
  database.close();
});
