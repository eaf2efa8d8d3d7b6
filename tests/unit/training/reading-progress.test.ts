/** What is said of a large file while it is read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { piecesOf } from '../../../src/agent/training/datasets/data-file.ts';
import { tellReading } from '../../../src/agent/training/datasets/reading-progress.ts';

let directory: string;
let file: string;
let said: string[];
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-reading-'));
  file = path.join(directory, 'data.csv');
  said = [];
  tellReading((words) => said.push(words));
});
afterEach(() => {
  tellReading(undefined);
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

/** Reads the file, and waits this long after each piece. */
function readSlowly(seconds: number): void {
  let now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  for (const piece of piecesOf(file)) now += piece.length === 0 ? 0 : 1000 * seconds;
}

const MEGABYTE = 2 ** 20;

test('how much of it, every five seconds, and at last how long it took', () => {
  writeFileSync(file, Buffer.alloc(4 * MEGABYTE, 'a'));
  readSlowly(3);
  expect(said).toEqual([
    `reading ${file}: 50 % of 4.19 MB`,
    `reading ${file}: 100 % of 4.19 MB`,
    `read ${file}: 4.19 MB in 12 s`,
  ]);
});

test('nothing of one that is read at once, or where nobody asks', () => {
  writeFileSync(file, Buffer.alloc(4 * MEGABYTE, 'a'));
  readSlowly(1);
  tellReading(undefined);
  readSlowly(100);
  expect(said).toEqual([]);
});

test('of a gzipped one, as much as is unpacked', () => {
  const packed = gzipSync(Buffer.from(Array.from({ length: MEGABYTE }, Math.random)), {
    level: 1,
  });
  writeFileSync(file, packed);
  readSlowly(30);
  expect(said.at(-1)).toMatch(/^read .* in \d+ s$/);
});
