/** The files of a program's directory that are copied, found in real directories. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { workdirFiles } from '../../../src/main/deploy/workdir-files.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-workdir-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** Makes files with their folders; each holds its own name. */
function make(...names: readonly string[]): void {
  for (const name of names) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name);
  }
}

const found = async (): Promise<readonly string[]> =>
  (await workdirFiles(directory)).map((entry) => entry.path);
const sha256 = (text: string): string =>
  createHash('sha256').update(text).digest('hex');

test('all files of a directory, with contents, modes and links', async () => {
  make('train.py', 'lib/a b.py', 'lib/Ünïcode.py', 'zero');
  make('.venv/bin/python', 'lib/__pycache__/a.pyc', 'node_modules/x/y.js');
  writeFileSync(path.join(directory, 'zero'), '');
  chmodSync(path.join(directory, 'train.py'), 0o755);
  symlinkSync('/data/mnist', path.join(directory, 'data'));
  execFileSync('mkfifo', [path.join(directory, 'pipe')]);
  expect(await workdirFiles(directory)).toEqual([
    { path: 'data', target: '/data/mnist' },
    { path: 'lib/a b.py', sha256: sha256('lib/a b.py'), bytes: 10, executable: false },
    {
      path: 'lib/Ünïcode.py',
      sha256: sha256('lib/Ünïcode.py'),
      bytes: Buffer.byteLength('lib/Ünïcode.py'),
      executable: false,
    },
    { path: 'train.py', sha256: sha256('train.py'), bytes: 8, executable: true },
    { path: 'zero', sha256: sha256(''), bytes: 0, executable: false },
  ]);
});

const refused = (code: string, words: string): unknown =>
  expect.objectContaining({
    code,
    kind: 'input',
    place: 'workload.workdir',
    message: expect.stringContaining(words) as string,
  });

test('what cannot be copied is refused, by name', async () => {
  await expect(workdirFiles(path.join(directory, 'no'))).rejects.toEqual(
    refused('WORKDIR_MISSING', path.join(directory, 'no')),
  );
  await expect(found()).rejects.toEqual(refused('WORKDIR_EMPTY', directory));
  make('model.pt', 'train.py');
  await expect(workdirFiles(path.join(directory, 'train.py'))).rejects.toEqual(
    refused('WORKDIR_MISSING', 'train.py'),
  );
  truncateSync(path.join(directory, 'model.pt'), 300 * 2 ** 20);
  await expect(found()).rejects.toEqual(
    refused('WORKDIR_TOO_LARGE', 'the largest: model.pt 315 MB, train.py 8.00 B'),
  );
  truncateSync(path.join(directory, 'model.pt'), 0);
  const odd = Buffer.concat([
    Buffer.from(`${directory}/`),
    Buffer.from([0x66, 0xff, 0x66]),
  ]);
  writeFileSync(odd, '');
  await expect(found()).rejects.toEqual(refused('WORKDIR_UNREADABLE', 'not UTF-8'));
  rmSync(odd);
  expect(await found()).toEqual(['model.pt', 'train.py']);
});

test('ten thousand files are the most', { tags: 'soak' }, async () => {
  const wide = path.join(directory, 'wide');
  mkdirSync(wide);
  for (let n = 0; n <= 10_000; n++) writeFileSync(path.join(wide, String(n)), '');
  await expect(found()).rejects.toEqual(
    refused('WORKDIR_TOO_LARGE', 'more than 10000 files'),
  );
});

describe.skipIf(spawnSync('git', ['--version']).status !== 0)('with git', () => {
  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
    const options = { cwd: directory, stdio: 'ignore' } as const;
    execFileSync('git', [...who, ...args], options);
  };
  /** Puts entries into the index without files: `MODE HASH<tab>PATH` each. */
  const index = (entries: readonly string[]): void => {
    execFileSync('git', ['update-index', '--index-info'], {
      cwd: directory,
      input: entries.map((entry) => `${entry}\n`).join(''),
    });
  };
  const HASH = '1'.repeat(40);

  test('what git ignores is left out, what it keeps in spite of that is not', async () => {
    git('init');
    make('train.py', 'out/log', 'out/kept', 'deep/x.tmp', 'deep/new.py', 'gone');
    writeFileSync(path.join(directory, '.gitignore'), 'out/\n*.tmp\n');
    git('add', '-f', 'out/kept', 'gone');
    rmSync(path.join(directory, 'gone'));
    expect(await found()).toEqual([
      '.gitignore',
      'deep/new.py',
      'out/kept',
      'train.py',
    ]);
    directory = path.join(directory, 'deep');
    expect(await found()).toEqual(['new.py']);
    directory = path.dirname(directory);
  });

  test('a repository within one is copied too', async () => {
    git('init');
    make('train.py', 'sub/lib.py', 'sub/skip.tmp');
    writeFileSync(path.join(directory, 'sub/.gitignore'), '*.tmp');
    execFileSync('git', ['init'], {
      cwd: path.join(directory, 'sub'),
      stdio: 'ignore',
    });
    expect(await found()).toEqual(['sub/.gitignore', 'sub/lib.py', 'train.py']);
  });

  test('a submodule that is not checked out has nothing to copy', async () => {
    git('init');
    make('train.py');
    mkdirSync(path.join(directory, 'lib/sub'), { recursive: true });
    index([`160000 ${HASH}\tlib/sub`]);
    expect(await found()).toEqual(['train.py']);
    directory = path.join(directory, 'lib/sub');
    await expect(found()).rejects.toEqual(refused('WORKDIR_EMPTY', directory));
    directory = path.join(directory, '../..');
  });

  test('more paths than git may answer with are too many files', async () => {
    git('init');
    const folder = 'f'.repeat(290);
    index(
      Array.from({ length: 60_000 }, (_, n) => `100644 ${HASH}\t${folder}/${n}.json`),
    );
    await expect(found()).rejects.toEqual(
      refused('WORKDIR_TOO_LARGE', 'more than 10000 files to copy'),
    );
  });

  test('an end of the command ends the search', async () => {
    git('init');
    const reason = new Error('stopped');
    const searched = workdirFiles(directory, AbortSignal.abort(reason));
    await expect(searched).rejects.toBe(reason);
  });

  test('a git that says nothing is named by how it ended', async () => {
    git('init');
    make('train.py', 'bin/git');
    const file = path.join(directory, 'bin/git');
    writeFileSync(file, '#!/bin/sh\nexit 7\n');
    chmodSync(file, 0o755);
    vi.stubEnv('PATH', path.dirname(file));
    await expect(found()).rejects.toEqual(
      refused('WORKDIR_UNREADABLE', 'git ls-files failed: 7'),
    );
  });

  test('a repository that git does not read is no reason to copy everything', async () => {
    git('init');
    make('train.py');
    writeFileSync(path.join(directory, '.git/config'), '[core\n');
    await expect(found()).rejects.toEqual(
      refused('WORKDIR_UNREADABLE', 'git ls-files failed'),
    );
  });
});
