import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  HomeWatch,
  LOOKS_AWAY,
} from '../../../src/agent/supervisor/home/home-watch.ts';

let parent: string;
let home: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(os.tmpdir(), 'gw-home-'));
  home = path.join(parent, 'home');
  mkdirSync(home);
});
afterEach(() => {
  rmSync(parent, { recursive: true });
});

const looks = (watch: HomeWatch, times: number): string[] =>
  Array.from({ length: times }, () => watch.look());
const away = new Array<string>(LOOKS_AWAY - 1).fill('away');

test('a home that stays away is gone', () => {
  const watch = new HomeWatch(home);
  expect(looks(watch, 2)).toEqual(['there', 'there']);
  rmSync(home, { recursive: true });
  expect(looks(watch, LOOKS_AWAY)).toEqual([...away, 'gone']);
});

test('one that comes back in time is there, and its absence is forgotten', () => {
  const watch = new HomeWatch(home);
  const elsewhere = path.join(parent, 'elsewhere');
  for (let round = 0; round < 2; round++) {
    renameSync(home, elsewhere);
    expect(looks(watch, LOOKS_AWAY - 1)).toEqual(away);
    renameSync(elsewhere, home);
    expect(watch.look()).toBe('there');
  }
});

test('another directory in its place is not the home', () => {
  const watch = new HomeWatch(home);
  // The first one is kept, so that its number cannot be given to the second.
  renameSync(home, path.join(parent, 'elsewhere'));
  mkdirSync(home);
  expect(looks(watch, LOOKS_AWAY)).toEqual([...away, 'gone']);
});

test('an error that does not say that it is absent counts for nothing', () => {
  const parts = path.join(parent, 'a', 'b');
  mkdirSync(parts, { recursive: true });
  const watch = new HomeWatch(parts);
  rmSync(path.join(parent, 'a'), { recursive: true });
  expect(watch.look()).toBe('away');
  // A link that leads to itself: ELOOP, as any trouble other than ENOENT.
  symlinkSync('a', path.join(parent, 'a'));
  expect(looks(watch, LOOKS_AWAY)).toEqual(new Array<string>(LOOKS_AWAY).fill('there'));
});
