/**
 * The history on a file system that several machines may have mounted. They share no memory, and the
 * index of a write-ahead log would need it.
 */
import fs, { existsSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../src/disk/temporary-directory.ts';
import { openDatabase } from '../../../src/main/store/database.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory('gradwire-network-');
  file = path.join(directory, 'gradwire.db');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const modeOf = (database: Database.Database): unknown =>
  database.pragma('journal_mode', { simple: true });

/** The kernel's numbers of file systems, as `stat --file-system --format %t` prints them. */
const NFS = 0x6969;
const EXT4 = 0xef53;

/** Does something while the kernel tells that number of the directory's file system. */
function onType<T>(type: number, work: () => T): T {
  const { statfsSync } = fs;
  const told = (where: fs.PathLike): fs.StatsFs => {
    const found = statfsSync(where);
    if (where === directory) found.type = type;
    return found;
  };
  fs.statfsSync = told as typeof statfsSync;
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    fs.statfsSync = statfsSync;
    syncBuiltinESMExports();
  }
}

/** The mode of a history that is opened there, and of the file once it is closed. */
function modesOn(type: number): readonly unknown[] {
  const { database, readOnly } = onType(type, () => openDatabase(file));
  const network = type === NFS;
  expect(readOnly).toBeUndefined();
  const open = modeOf(database);
  database.exec('CREATE TABLE IF NOT EXISTS sample (x); INSERT INTO sample VALUES (1)');
  expect(existsSync(`${file}-wal`)).toBe(!network);
  expect(existsSync(`${file}-shm`)).toBe(!network);
  database.close();
  const later = new Database(file);
  const closed = modeOf(later);
  later.close();
  return [open, closed];
}

it('has a rollback journal there, and a write-ahead log elsewhere', () => {
  // A file does not remember which kind of rollback journal; SQLite begins with its default.
  expect(modesOn(NFS)).toEqual(['truncate', 'delete']);
  expect(modesOn(EXT4)).toEqual(['wal', 'wal']);
});

it('loses its write-ahead log where its home has moved there, with all that was stored', () => {
  expect(modesOn(EXT4)).toEqual(['wal', 'wal']);
  expect(modesOn(NFS)).toEqual(['truncate', 'delete']);
  const database = new Database(file);
  expect(database.prepare('SELECT count(*) FROM sample').pluck().get()).toBe(2);
  database.close();
});
