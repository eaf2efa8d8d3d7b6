/**
 * The package: what is in it, and that it runs where npm has installed it, on several Nodes. npm
 * needs its registry for the packages that are not in the bundles; without it, and on
 * platforms that others test, those tests are skipped.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GradwireHome, RunningCommand, succeeded } from '../../harness/gradwire.ts';

const root = path.join(import.meta.dirname, '../../..');
const folder = path.join(root, 'test-results/package');
const isLinux = process.platform === 'linux';

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const npm = (...args: string[]) =>
  spawnSync('npm', [...args, ...QUIET], {
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...process.env, npm_config_ignore_scripts: 'false' },
  });

let tarball: string;
beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, [
    path.join(root, 'scripts/pack.ts'),
    ...['--built', '--destination', folder],
  ]);
  tarball = path.join(folder, globSync('*.tgz', { cwd: folder })[0]!);
  execFileSync('tar', ['xzf', tarball, '-C', folder]);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const inPackage = (name: string): string => path.join(folder, 'package', name);
const manifest = (): {
  dependencies: Record<string, string>;
  bundleDependencies: string[];
} => JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as never;

test('it has no source maps, and nothing that its bundles contain', () => {
  expect(globSync('**/*.map', { cwd: inPackage('') })).toEqual([]);
  const { dependencies } = manifest();
  for (const name of Object.keys(dependencies)) {
    const files = globSync('dist/**/*.js', { cwd: inPackage('') });
    const isImported = files.some((file) =>
      new RegExp(`(from|require\\(|import\\() ?["'\`]${name}["'\`]`).test(
        readFileSync(inPackage(file), 'utf8'),
      ),
    );
    expect(isImported, name).toBe(true);
  }
});

test('every relative link of its documents leads to a file in it', () => {
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: inPackage('') });
  expect(documents.length).toBeGreaterThan(90);
  const broken = documents.flatMap((document) =>
    [...readFileSync(inPackage(document), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter(
        (target) => !existsSync(path.join(path.dirname(inPackage(document)), target)),
      )
      .map((target) => `${document}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('what lies inside has no script to run and its licence', () => {
  for (const name of manifest().bundleDependencies) {
    const text = readFileSync(inPackage(`node_modules/${name}/package.json`), 'utf8');
    expect(JSON.parse(text)).not.toHaveProperty('scripts');
    expect(existsSync(inPackage(`node_modules/${name}/LICENSE`))).toBe(true);
  }
});

/** A package of npm's, in a folder that stays; undefined where it cannot be fetched. */
function fetched(name: string, version: string): string | undefined {
  const place = path.join(root, `test-results/${name}-${version}`);
  const at = path.join(place, 'node_modules', name);
  if (!existsSync(at)) {
    npm('install', '--prefix', place, '--no-save', `${name}@${version}`);
  }
  return existsSync(at) ? at : undefined;
}

/** A Node of this version. */
function nodeOf(version: string): string | undefined {
  const at = fetched(`node-linux-${process.arch}`, version);
  return at && path.join(at, 'bin/node');
}

/** A command, as root in a namespace that has no network at all. */
function withoutNetwork(
  command: readonly string[],
): [file: string, args: readonly string[]] {
  const isRoot = process.getuid?.() === 0;
  const [file, ...args] = isRoot ? ['unshare', '--net', ...command] : command;
  return [file!, args];
}

/** Trains for a moment with what npm has installed at a prefix, started by a Node. */
async function train(node: string, prefix: string): Promise<void> {
  await using home = new GradwireHome();
  const entry = path.join(prefix, 'lib/node_modules/gradwire/bin/gradwire.js');
  const short = ['--set', 'iterations=3', '--set', 'world.ranks=2'];
  const run = new RunningCommand(
    spawn(node, [entry, 'run', 'quickstart', '--json', ...short], {
      env: { ...process.env, GRADWIRE_HOME: home.directory },
    }),
    true,
  );
  succeeded(await run.finished);
  expect(run.records.at(-1)).toMatchObject({ type: 'done', reason: 'completed' });
  expect(run.records.filter(({ type }) => type === 'iteration')).toHaveLength(6);
}

/** Nodes that npm has as packages with the binary inside. */
const NODES = ['20.20.2', '22.23.3', '24.0.0', '24.21.0', '26.12.1'];

describe.skipIf(!isLinux)('installed by npm', { tags: 'soak' }, () => {
  let hasRegistry = false;
  let prefix: string;
  beforeAll(() => {
    prefix = path.join(folder, 'global');
    const installed = npm(
      'install',
      '-g',
      '--prefix',
      prefix,
      '--prefer-offline',
      tarball,
    );
    hasRegistry = installed.status === 0;
    if (!hasRegistry && process.env.CI === 'true') throw new Error(installed.stderr);
  });

  test('nothing was compiled', ({ skip }) => {
    skip(!hasRegistry, 'no registry');
    expect(globSync('**/build/Release/*.node', { cwd: prefix })).toEqual([]);
  });

  test.for(NODES)('trains when Node %s starts it', async (version, { skip }) => {
    skip(!hasRegistry, 'no registry');
    const node = nodeOf(version);
    skip(node === undefined, `npm has no Node ${version}`);
    await train(node!, prefix);
  });

  test.for(['20.20.2', '22.23.3'])(
    'the library can be read by Node %s, which it refuses',
    (version, { skip }) => {
      skip(!hasRegistry, 'no registry');
      const node = nodeOf(version);
      skip(node === undefined, `npm has no Node ${version}`);
      const library = path.join(
        prefix,
        'lib/node_modules/gradwire/dist/engine/engine.js',
      );
      const { stderr } = spawnSync(node!, [library], { encoding: 'utf8' });
      expect(stderr).toContain("code: 'NODE_TOO_OLD'");
    },
  );

  // Each with a cache of its own: npm 10 also fetches what is for other systems.
  describe.for(['10.9.4', '11.6.2'])('without a network, by npm %s', (version) => {
    const cache = path.join(folder, `cache-${version}`);
    const install = (node: string, place: string) => {
      const cli = path.join(fetched('npm', version)!, 'bin/npm-cli.js');
      const to = ['install', '-g', '--prefix', place, '--cache', cache];
      return [node, cli, ...to, ...QUIET, tarball];
    };

    test.for(['20.20.2', '24.21.0'])('on Node %s', async (nodeVersion, { skip }) => {
      skip(!hasRegistry, 'no registry');
      const node = nodeOf(nodeVersion);
      skip(
        node === undefined || fetched('npm', version) === undefined,
        'npm does not have them',
      );
      const place = path.join(folder, `offline-${version}-${nodeVersion}`);
      const command = install(node!, place);
      const done = { encoding: 'utf8', timeout: 240_000 } as const;
      if (!existsSync(cache)) {
        spawnSync(command[0]!, command.slice(1), done);
        rmSync(place, { recursive: true });
      }
      const { status, stderr } = spawnSync(
        ...withoutNetwork([...command, '--offline']),
        done,
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      await train(node!, place);
      rmSync(place, { recursive: true });
    });
  });
});
