import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveHome, type Home } from '../../../src/main/home/home.ts';
import { AppLock } from '../../../src/main/home/app-lock.ts';

let home: Home;
beforeEach(() => {
  home = resolveHome({
    GRADWIRE_HOME: mkdtempSync(path.join(os.tmpdir(), 'gw-lock-')),
  });
});
afterEach(() => {
  rmSync(home.directory, { recursive: true });
});

test('a second host is refused, naming the first; after kill -9 it gets in', async () => {
  const holder = path.join(import.meta.dirname, 'lock-holder.ts');
  const child = spawn(process.execPath, [holder, home.directory]);
  await once(child.stdout, 'data');
  expect(AppLock.isHeld(home)).toBe(true);
  expect(() => AppLock.acquire(home, 'electron')).toThrow(
    expect.objectContaining({
      code: 'APP_ALREADY_RUNNING',
      kind: 'failure',
      message: expect.stringMatching(
        new RegExp(`process ${child.pid}\\) at http://127.0.0.1:1234`),
      ) as string,
    }),
  );
  child.kill('SIGKILL');
  await once(child, 'close');
  AppLock.acquire(home, 'electron').release();
});

test('is free after its release, and held against this process too', () => {
  expect(AppLock.isHeld(home)).toBe(false);
  const lock = AppLock.acquire(home, 'electron');
  expect(AppLock.isHeld(home)).toBe(true);
  expect(() => AppLock.acquire(home, 'browser')).toThrow(
    expect.objectContaining({ code: 'APP_ALREADY_RUNNING' }),
  );
  lock.release();
  lock.release();
  AppLock.acquire(home, 'browser').release();
});

test.runIf(existsSync('/dev/full'))('is had on a full disk, without a name', () => {
  symlinkSync('/dev/full', home.lockHolder);
  const lock = AppLock.acquire(home, 'browser');
  expect(() => AppLock.acquire(home, 'electron')).toThrow(
    expect.objectContaining({
      code: 'APP_ALREADY_RUNNING',
      message: `Gradwire is already running on ${home.directory}`,
    }),
  );
  symlinkSync('/dev/full', home.lockHolder);
  lock.announce('http://127.0.0.1:1234');
  lock.release();
  expect(existsSync(home.lockHolder)).toBe(false);
});
