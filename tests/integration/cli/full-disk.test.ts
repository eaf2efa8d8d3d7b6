/**
 * The history on a disk that takes no more, a real one: what is stored can be read, and deleting
 * and purging frees space.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { parseNetworkProfile } from '../../../src/shared/cost-model/network-profile.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { done, entries, sampleSpec, started } from '../../unit/main/sample-records.ts';

/** Room for the reserve and a history. */
const DISK = '48m';
/** Twenty commands that only read. */
const READS = Array.from({ length: 5 }, () => [
  ['runs', 'list'],
  ['runs', 'show', 'one'],
  ['compare', 'one', 'two'],
  ['runs', 'log', 'three'],
]).flat();
let home: GradwireHome;
let commands: CommandHost;
let file: string;
let filler: string;

/** A run whose ranks printed two megabytes. */
function talkative(): readonly JournalEntry[] {
  const lines = Array.from({ length: 2000 }, (_, n): RunRecord => {
    const text = `line ${n} ${'x'.repeat(1000)}`;
    return { type: 'log', at: n, rank: 0, stream: 'stdout', text };
  });
  return entries([started, ...lines, done]);
}

const mount = (...options: readonly string[]): number | null =>
  spawnSync('mount', [...options, home.directory]).status;

/** Not one byte is free afterwards. */
function fill(): void {
  const descriptor = openSync(filler, 'a');
  try {
    for (let bytes = 2 ** 20; bytes > 0; bytes = bytes === 1 ? 0 : bytes >> 1) {
      const piece = Buffer.alloc(bytes, 1);
      while (writes(descriptor, piece)) continue;
    }
  } finally {
    closeSync(descriptor);
  }
  expect(statfsSync(home.directory).bavail).toBe(0);
}

function writes(descriptor: number, piece: Uint8Array): boolean {
  try {
    return writeSync(descriptor, piece) > 0;
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    return false;
  }
}

const canMount = ((): boolean => {
  const found = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return found.status === 0;
})();

describe.skipIf(!canMount)('a disk that takes no more', () => {
  beforeEach(() => {
    home = new GradwireHome();
    commands = new CommandHost(home);
    file = path.join(home.directory, 'gradwire.db');
    filler = path.join(home.directory, 'filler');
    expect(mount('-t', 'tmpfs', '-o', `size=${DISK},mode=700`, 'tmpfs')).toBe(0);
    const store = RunStore.open(file);
    for (const id of ['one', 'two', 'three']) {
      store.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
      store.records.append(id, talkative());
    }
    store.close();
  });
  afterEach(async () => {
    await commands[Symbol.asyncDispose]();
    spawnSync('umount', ['-l', home.directory]);
    await home[Symbol.asyncDispose]();
  });

  const list = async (...more: readonly string[]): Promise<string[]> => {
    const { stdout } = succeeded(
      await commands.run(['runs', 'list', '--json', ...more]),
    );
    const lines = stdout.trim().split('\n').filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as RunSummary).id).sort();
  };

  test('can be read, and deleting and purging makes room on it', async () => {
    fill();
    expect(await list()).toEqual(['one', 'three', 'two']);
    expect(succeeded(await home.run(['runs', 'show', 'one'])).stdout).toContain(
      'sample',
    );
    const log = succeeded(await commands.run(['runs', 'log', 'two']));
    expect(log.stdout).toContain('line 1999 ');
    const csv = await commands.run(['runs', 'export', 'one', '--format', 'csv']);
    expect(succeeded(csv).stdout).toMatch(/^iteration,rank,/);

    fill();
    const size = statSync(file).size;
    for (const id of ['one', 'two'])
      succeeded(await commands.run(['runs', 'delete', id]));
    fill();
    const { stdout } = succeeded(await commands.run(['runs', 'purge', 'one']));
    expect(stdout).toMatch(/^1 run purged; the history takes .* before\n$/);
    expect(statSync(file).size).toBeLessThan(size - 2_000_000);
    const { bavail, bsize } = statfsSync(home.directory);
    expect(bavail * bsize).toBeGreaterThan(1_500_000);
    expect(await list()).toEqual(['three']);
    expect(await list('--deleted')).toEqual(['two']);
    const gone = await commands.run(['runs', 'delete', '--undo', 'one']);
    expect(gone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RUN_UNKNOWN') as string,
    });
    // Those that are not deleted stay.
    const kept = await commands.run(['runs', 'purge', 'three']);
    expect(kept.stderr).toContain('RUN_NOT_DELETED');
    succeeded(await commands.run(['runs', 'purge', '--deleted']));
    expect(statSync(file).size).toBeLessThan(size / 2);
    expect(await list('--deleted')).toEqual([]);
    expect(await list()).toEqual(['three']);
  });

  test('keeps its reserve for what frees space, however often it is read', async () => {
    const reserve = path.join(home.directory, 'gradwire.reserve');
    const whole = statSync(reserve).size;
    fill();
    for (const words of READS) {
      succeeded(await commands.run(words));
      fill();
      expect(statSync(reserve).size, words.join(' ')).toBe(whole);
    }
    for (const id of ['one', 'two']) {
      succeeded(await commands.run(['runs', 'delete', id]));
      fill();
    }
    const purged = await commands.run(['runs', 'purge', '--deleted']);
    expect(succeeded(purged).stdout).toMatch(/^2 runs purged; /);
    expect(purged.stderr).toBe('');
    const { bavail, bsize } = statfsSync(home.directory);
    expect(bavail * bsize).toBeGreaterThan(3_000_000);
    expect(statSync(reserve).size).toBe(whole);
    expect(await list()).toEqual(['three']);
  });

  test('is shared by what lasts, which frees space on it again and again', async () => {
    const reserve = path.join(home.directory, 'gradwire.reserve');
    const whole = statSync(reserve).size;
    fill();
    const store = RunStore.open(file);
    try {
      expect(store.readOnly).toBeUndefined();
      for (let again = 0; again < 20; again++) {
        fill();
        store.setDeleted('one', again % 2 === 0);
        fill();
        expect(await list()).toEqual(
          again % 2 === 0 ? ['three', 'two'] : ['one', 'three', 'two'],
        );
      }
      store.setDeleted('two', true);
      fill();
      store.purge('two');
      for (const step of store.space.clear()) expect(step).toBeUndefined();
      expect(await list()).toEqual(['one', 'three']);
    } finally {
      store.close();
    }
    expect(statSync(reserve).size).toBe(whole);
  });

  test('gets no half of a file, and the advice fits', async () => {
    fill();
    const vector = path.join(home.directory, 'filler');
    const out = path.join(home.directory, 'out');
    for (const words of [
      ['compress', '--method', 'topk', '--in', vector, '--out', out],
      ['runs', 'export', 'one', '--out', out],
    ]) {
      const { code, stderr } = await home.run(words);
      expect(code, stderr).not.toBe(0);
      expect(stderr).toContain('no space left');
      expect(stderr).toContain('Free space on that disk');
      expect(existsSync(out)).toBe(false);
    }
  });

  test(
    'shows what it measured for minutes and cannot store',
    { tags: 'soak' },
    async () => {
      fill();
      const words = ['bench', 'network', '--quick', '--ranks', '2', '--json'];
      const { code, stdout, stderr } = await home.run(words);
      expect(code).toBe(2);
      expect(stderr).toContain('OUTPUT_NOT_WRITABLE');
      expect(parseNetworkProfile(JSON.parse(stdout), 'stdout').nodes).toHaveLength(2);
    },
  );

  test('can be read with the log that a killed process left, and no reserve', async () => {
    const writer = path.join(import.meta.dirname, '../main/store-writer.ts');
    const child = spawn(process.execPath, [writer, file, '3000', '500']);
    child.stdout.once('data', () => child.kill('SIGKILL'));
    await once(child, 'close');
    rmSync(`${file}-shm`, { force: true });
    rmSync(path.join(home.directory, 'gradwire.reserve'), { force: true });
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    fill();
    const { stdout } = succeeded(await home.run(['runs', 'export', 'r']));
    const { iterations } = JSON.parse(stdout) as { iterations: unknown[] };
    expect(iterations.length).toBeGreaterThan(400);
    expect(existsSync(`${file}-wal`)).toBe(true);
  });

  test('can be read where nothing can be written at all', async () => {
    const store = RunStore.open(file);
    store.setDeleted('two', true);
    // Its end has not been stored, and never will be.
    store.create({ id: 'cut', spec: sampleSpec(), switches: [], createdAt: 9 });
    appendFileSync(filler, ''); // the log is left: the store is not closed
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    expect(mount('-o', 'remount,ro')).not.toBe(0); // still open for writing
    store.close();
    expect(mount('-o', 'remount,ro')).toBe(0);
    expect((await list()).toSorted()).toEqual(['cut', 'one', 'three']);
    for (const words of [
      ['runs', 'show', 'cut'],
      ['runs', 'export', 'one'],
      ['compare', 'one', 'three'],
    ]) {
      expect((await home.run(words)).code).toBe(0);
    }
    const refused = await home.run(['runs', 'delete', 'one']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('DATABASE_READ_ONLY');
    const launched = await home.run(['run', 'quickstart']);
    expect(launched.code).toBe(1);
    expect(launched.stderr).toContain('FILE_SYSTEM_READ_ONLY');
    expect(launched.stderr).not.toContain('bug');
  });
});
