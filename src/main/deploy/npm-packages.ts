/**
 * Native packages for machines unlike this computer: npm installs those of this computer's own system and
 * processor alone. The others are fetched from npm's registry when the first such
 * machine is deployed to, by npm itself, in the versions and with the hashes of
 * `package-lock.json`, and kept in the home.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectory } from '../../disk/make-directory.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import type { Platform } from './package-files.ts';

export interface FetchOptions {
  /** The directory in which `package-lock.json` lies. */
  readonly root: string;
  /** The folder in which packages are kept. */
  readonly directory: string;
  readonly signal?: AbortSignal | undefined;
  /** Called where something has to be fetched. */
  readonly fetching?: (() => void) | undefined;
}

const HASH_DIGITS = 16;
const DAY_MS = 86_400_000;

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});
type Locked = z.infer<typeof lockSchema>['packages'];

/** Fetches of this process, by folder: machines that need the same packages share one. */
const underWay = new Map<string, Promise<void>>();

/**
 * The folder with these packages, `node_modules`, for a platform.
 * @throws GradwireError `PACKAGES_NOT_FETCHED`, `OUTPUT_NOT_WRITABLE`
 */
export async function fetchPackages(
  names: readonly string[],
  platform: Platform,
  options: FetchOptions,
): Promise<string> {
  const locked = lockedPackages(names, options.root);
  const hash = createHash('sha256').update(JSON.stringify(locked)).digest('hex');
  const { os, architecture } = platform;
  const name = `npm-${os}-${architecture}-${hash.slice(0, HASH_DIGITS)}`;
  const folder = path.join(options.directory, name);
  if (!existsSync(folder)) {
    const fetched =
      underWay.get(folder) ??
      install(folder, locked, platform, options).finally(() => underWay.delete(folder));
    underWay.set(folder, fetched);
    await fetched;
  }
  return path.join(folder, 'node_modules');
}

/** Reads the lock file's entries of these packages. @throws GradwireError `PACKAGES_NOT_FETCHED` */
function lockedPackages(names: readonly string[], root: string): Locked {
  // npm leaves its lock out of packages.
  const lock = path.join(root, 'package-lock.json');
  const file = existsSync(lock)
    ? lock
    : path.join(root, 'resources/native-packages.json');
  let all: Locked = {};
  try {
    all = lockSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).packages;
  } catch {
    // Missing or damaged: as one that names none of them.
  }
  return Object.fromEntries(
    names.map((name) => {
      const place = `node_modules/${name}`;
      const entry = all[place];
      if (entry?.version === undefined || entry.integrity === undefined) {
        throw notFetched([name], `${file} has no hash for it`);
      }
      const { version, integrity } = entry;
      return [place, { version, integrity }];
    }),
  );
}

async function install(
  folder: string,
  locked: Locked,
  platform: Platform,
  { signal, fetching }: FetchOptions,
): Promise<void> {
  fetching?.();
  const beside = `${folder}.${randomBytes(6).toString('hex')}.tmp`;
  const versions = Object.fromEntries(
    Object.entries(locked).map(([place, { version }]) => [nameOf(place), version]),
  );
  const manifest = { name: 'packages', dependencies: versions };
  const lock = { lockfileVersion: 3, packages: { '': manifest, ...locked } };
  try {
    await makeDirectory(beside, 0o700);
    await writeFile(path.join(beside, 'package.json'), JSON.stringify(manifest));
    await writeFile(path.join(beside, 'package-lock.json'), JSON.stringify(lock));
    const said = await runNpm(beside, platform, signal);
    const missing = Object.keys(locked).filter(
      (place) => !existsSync(path.join(beside, place, 'package.json')),
    );
    if (missing.length > 0) throw notFetched(missing.map(nameOf), said);
    await rename(beside, folder).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    });
    await forgetOld(folder);
  } catch (cause) {
    if (cause instanceof GradwireError || signal?.aborted === true) throw cause;
    throw fileNotWritable(folder, cause);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** Removes other versions for the platform, and what was left of fetches that were killed. */
async function forgetOld(folder: string): Promise<void> {
  const directory = path.dirname(folder);
  const ofPlatform = path.basename(folder).slice(0, -HASH_DIGITS);
  for (const name of await readdir(directory)) {
    const other = path.join(directory, name);
    if (!name.startsWith(ofPlatform) || other === folder) continue;
    // Another process may be at work on a new one, or have removed an old one.
    const found = await stat(other).catch(() => undefined);
    if (found === undefined || Date.now() - found.mtimeMs < DAY_MS) continue;
    await rm(other, { recursive: true, force: true });
  }
}

const nameOf = (place: string): string => place.slice('node_modules/'.length);

/** The first thing that it says of an error. */
async function runNpm(
  cwd: string,
  { os, architecture }: Platform,
  signal: AbortSignal | undefined,
): Promise<string> {
  const args = [
    // By force: their manifests say that they are for another platform.
    ...['ci', `--os=${os}`, `--cpu=${architecture}`, '--force'],
    ...['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'],
    ...['--fetch-retries=1', '--loglevel=error', '--color=false'],
  ];
  const child: ChildProcess = spawn('npm', args, {
    cwd,
    signal,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  child.once('error', (error) => {
    resolve(error.message);
  });
  child.once('close', () => {
    resolve(firstErrorOf(said));
  });
  const message = await promise;
  signal?.throwIfAborted();
  return message;
}

/** npm's errors are several lines, of which the last names a log file. */
function firstErrorOf(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)/, '').trim())
    .filter((line) => line !== '' && !/^(code|errno|syscall) |complete log/.test(line));
  return lines[0] ?? 'npm gave no reason';
}

function notFetched(names: readonly string[], why: string): Error {
  return failure(
    'PACKAGES_NOT_FETCHED',
    `cannot fetch ${names.join(' and ')} from npm’s registry: ${why}`,
    {
      next: 'Connect this computer to the registry and try again, or install Node 24 on that machine and put it on the PATH.',
    },
  );
}
