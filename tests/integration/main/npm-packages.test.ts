/** Native packages for other machines: npm itself, and a registry on loopback. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pack } from 'tar-stream';
import { fetchPackages } from '../../../src/main/deploy/npm-packages.ts';
import { nativePackages } from '../../../src/main/deploy/package-files.ts';

/** No computer that runs these tests is one. */
const PLATFORM = { os: 'aix', architecture: 'ppc64' };
const NAMES = ['@adder/adder-aix-ppc64', 'node-aix-ppc64'];

let directory: string;
let registry: Server;
/** What the registry sends, by package. */
let tarballs: Map<string, Buffer>;
let asked: string[];

async function tarballOf(name: string): Promise<Buffer> {
  const manifest = { name, version: '1.2.3', os: ['aix'], cpu: ['ppc64'] };
  const archive = pack();
  archive.entry({ name: 'package/package.json' }, JSON.stringify(manifest));
  archive.entry({ name: 'package/bin/node' }, `the program of ${name}`);
  archive.finalize();
  return await buffer(archive.pipe(createGzip()));
}

const integrityOf = (bytes: Buffer): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

const urlOf = (): string =>
  `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'gw-npm-'));
  asked = [];
  tarballs = new Map();
  for (const name of NAMES) tarballs.set(name, await tarballOf(name));
  registry = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '');
    asked.push(url);
    const name = NAMES.find((one) => url.startsWith(`/${one}`));
    if (name === undefined) response.writeHead(404).end('{}');
    else if (url.endsWith('.tgz')) response.end(tarballs.get(name));
    else {
      const dist = { tarball: `${urlOf()}/${name}/-/it-1.2.3.tgz` };
      const version = { name, version: '1.2.3', os: ['aix'], cpu: ['ppc64'], dist };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': {}, versions: { '1.2.3': version } }),
      );
    }
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('npm_config_registry', urlOf());
  vi.stubEnv('npm_config_cache', path.join(directory, 'cache'));
  vi.stubEnv('npm_config_fetch_retry_mintimeout', '1');
  vi.stubEnv('npm_config_fetch_retry_maxtimeout', '2');
  const packages = Object.fromEntries(
    NAMES.map((name) => [
      `node_modules/${name}`,
      {
        version: '1.2.3',
        integrity: integrityOf(tarballs.get(name)!),
        os: ['aix'],
        cpu: ['ppc64'],
        optional: true,
      },
    ]),
  );
  const lock = { lockfileVersion: 3, packages };
  writeFileSync(path.join(directory, 'package-lock.json'), JSON.stringify(lock));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => {
    registry.close(resolve);
    registry.closeAllConnections();
  });
  rmSync(directory, { recursive: true });
});

const kept = (): string => path.join(directory, 'kept');
const fetched = (names: readonly string[] = NAMES): Promise<string> =>
  fetchPackages(names, PLATFORM, { root: directory, directory: kept() });
const left = (): readonly string[] => (existsSync(kept()) ? readdirSync(kept()) : []);

test('are fetched once for all machines of a kind, and kept', async () => {
  const [folder, other] = await Promise.all([fetched(), fetched()]);
  expect(other).toBe(folder);
  for (const name of NAMES) {
    const program = readFileSync(path.join(folder, name, 'bin/node'), 'utf8');
    expect(program).toBe(`the program of ${name}`);
  }
  expect(left()).toEqual([expect.stringMatching(/^npm-aix-ppc64-[0-9a-f]{16}$/)]);
  const before = asked.length;
  expect(asked.filter((url) => url.endsWith('.tgz'))).toHaveLength(NAMES.length);
  expect(await fetched()).toBe(folder);
  expect(asked).toHaveLength(before);
});

test('take the place of older ones, and of fetches that were killed', async () => {
  const folders = [
    'npm-aix-ppc64-0000000000000000',
    'npm-aix-ppc64-1111111111111111.a.tmp',
  ];
  const others = [
    'npm-aix-ppc-0000000000000000',
    'npm-aix-ppc64-2222222222222222.b.tmp',
  ];
  for (const name of [...folders, ...others]) {
    mkdirSync(path.join(kept(), name), { recursive: true });
  }
  for (const name of [...folders, others[0]!])
    utimesSync(path.join(kept(), name), 0, 0);
  const folder = path.basename(path.dirname(await fetched()));
  expect(left().toSorted()).toEqual([...others, folder].toSorted());
});

test('with other bytes than the lock file’s hash are refused', async () => {
  tarballs.set(NAMES[1]!, await tarballOf('another'));
  await expect(fetched()).rejects.toMatchObject({
    code: 'PACKAGES_NOT_FETCHED',
    message: expect.stringMatching(/registry: .*integrity/),
  });
  expect(left()).toEqual([]);
});

test('without a registry are an error that says so', async () => {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9');
  await expect(fetched()).rejects.toMatchObject({
    code: 'PACKAGES_NOT_FETCHED',
    message: expect.stringMatching(/registry: .*ECONNREFUSED/),
    next: expect.stringContaining('Node 24'),
  });
  expect(left()).toEqual([]);
});

test('without npm are an error that says so', async () => {
  vi.stubEnv('PATH', directory);
  await expect(fetched()).rejects.toMatchObject({
    code: 'PACKAGES_NOT_FETCHED',
    message: expect.stringContaining('npm ENOENT'),
  });
  expect(left()).toEqual([]);
});

test('without a hash are not asked for', async () => {
  await expect(fetched(['node-linux-mips'])).rejects.toMatchObject({
    code: 'PACKAGES_NOT_FETCHED',
    message: expect.stringContaining('node-linux-mips'),
  });
  expect(asked).toEqual([]);
});

test('stop being fetched when the user stops', async () => {
  const controller = new AbortController();
  const options = { root: directory, directory: kept(), signal: controller.signal };
  const fetching = (): void => {
    controller.abort();
  };
  await expect(
    fetchPackages(NAMES, PLATFORM, { ...options, fetching }),
  ).rejects.toMatchObject({ name: 'AbortError' });
  expect(left()).toEqual([]);
});

test.each(['x64', 'arm64'])('for Linux on %s are in the lock file', (architecture) => {
  const names = nativePackages({ os: 'linux', architecture }, { runtime: true });
  const file = path.join(import.meta.dirname, '../../../package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  expect(names).toHaveLength(2);
  for (const name of names) {
    expect(packages[`node_modules/${name}`]?.integrity).toMatch(/^sha512-/);
  }
});
