/** What `gradwire` says where it is not installed, not built, or started by an old Node. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tryLock } from '../../../src/main/home/file-lock.ts';
import { childrenOf, isAlive, until } from '../../harness/processes.ts';

const repository = path.join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** An installation of its own: the command and package.json alone. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'gradwire-checkout-'));
  cpSync(path.join(repository, 'bin'), path.join(root, 'bin'), { recursive: true });
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const install = (lowestNode: string): void => {
  const manifest = JSON.parse(
    readFileSync(path.join(repository, 'package.json'), 'utf8'),
  ) as { config: object };
  manifest.config = { lowestNode };
  writeFileSync(path.join(root, 'package.json'), JSON.stringify(manifest));
};

const command = async (): Promise<{ code: number; stderr: string }> => {
  const file = path.join(root, 'bin/gradwire.js');
  return await run(process.execPath, [file, '--version']).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
};

describe('a checkout', () => {
  test.each(['24.0.0', '99.0.0'])(
    'without packages says npm ci, whatever the Node (lowest: %s)',
    async (lowest) => {
      install(lowest);
      mkdirSync(path.join(root, 'src/cli'), { recursive: true });
      expect(await command()).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /^gradwire: NOT_INSTALLED: .* \(better-sqlite3\)\. Run: npm ci, in .*\n$/,
        ) as string,
      });
    },
  );

  test('without what a build needs says npm ci, too', async () => {
    install('24.0.0');
    mkdirSync(path.join(root, 'src/cli'), { recursive: true });
    mkdirSync(path.join(root, 'node_modules'));
    const name = 'node_modules/better-sqlite3';
    symlinkSync(path.join(repository, name), path.join(root, name));
    expect((await command()).stderr).toMatch(/ \(vite\)\. Run: npm ci/);
  });
});

test('a package without its build says so', async () => {
  install('24.0.0');
  expect(await command()).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^gradwire: NOT_BUILT: .*npm run pack\n$/) as string,
  });
});

test.each([['99.0.0'], [`${process.versions.node.split('.')[0]!}.999.0`]])(
  'a Node below %s is too old, also if only its minor version is',
  async (lowest) => {
    install(lowest);
    expect(await command()).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        `^gradwire: NODE_TOO_OLD: this is Node .*, Gradwire needs ${lowest} .*Install Node ${lowest} or newer\\.\n$`,
      ) as string,
    });
  },
);

test('a build waits for another one, and does not repeat it', async () => {
  const stamp = path.join(repository, 'dist/build-stamp');
  const { mtimeMs } = statSync(stamp);
  const lock = tryLock(
    path.join(repository, 'node_modules/.gradwire-build.lock'),
    60_000,
  )!;
  const script = path.join(repository, 'scripts/build.ts');
  const child = spawn(process.execPath, [script, '--steps', '--since', '1']);
  let said = '';
  const waits = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) resolve();
    });
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await waits;
  lock.close();
  expect(await ended).toBe(0);
  expect(said).toBe('gradwire: waiting for another build\n');
  expect(statSync(stamp).mtimeMs).toBe(mtimeMs);
});

/** A Node that is too old for Gradwire, if the system has one. */
const OLD = '/usr/bin/node';
const isOld =
  existsSync(OLD) &&
  Number(/^v(\d+)/.exec(execFileSync(OLD, ['--version'], { encoding: 'utf8' }))![1]) <
    24;

describe.skipIf(!isOld)('started by an older Node', () => {
  test('it ends when the process is killed that was started', async () => {
    const started = spawn(
      OLD,
      [path.join(repository, 'bin/gradwire.js'), 'serve', '--no-open', '--port', '0'],
      {
        env: { ...process.env, GRADWIRE_HOME: path.join(root, 'home') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(started.stdout, 'data');
    const inner = childrenOf(started.pid!);
    expect(inner).toHaveLength(1);
    started.kill('SIGKILL');
    await until(
      () => isAlive(inner[0]!),
      (alive) => !alive,
      'the process on the newer Node to end',
    );
  });
});
