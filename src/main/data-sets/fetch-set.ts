/** Fetches a public data set into a directory unless it is already there. */
import { rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../disk/make-directory.ts';
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { formatBytes } from '../../shared/words/units.ts';
import { sha256Of } from '../home/file-hash.ts';
import { tryLock } from '../home/file-lock.ts';
import { publicSets, type PublicFile, type PublicSet } from './public-sets.ts';
import { unpack } from './unpack.ts';

export interface FetchProgress {
  readonly file: string;
  /** Total bytes to fetch. */
  readonly done: number;
  readonly total: number;
}

export interface FetchOptions {
  /** The files' destination. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly progress: (progress: FetchProgress) => void;
  /** The URL to fetch from instead of the set's mirrors; it may have a user and a password. */
  readonly from?: string | undefined;
  /** Most time that a server may stay silent; default: 30 s. */
  readonly silenceMs?: number | undefined;
}

export interface FetchedSet {
  /** The value for `workload.data`. */
  readonly data: string;
  /** Bytes that were fetched; 0 if everything was there. */
  readonly fetched: number;
}

/** @throws GradwireError `DATA_SET_UNKNOWN` */
export function publicSet(id: string): PublicSet {
  const set = publicSets.find((one) => one.id === id);
  if (set !== undefined) return set;
  const known = publicSets.map((one) => one.id).join(', ');
  throw inputError('DATA_SET_UNKNOWN', `there is no public data set "${id}"`, {
    place: 'data',
    next: `Choose one of ${known}.`,
  });
}

export const bytesToFetch = ({ archive, files }: PublicSet): number =>
  bytesOf(archive === undefined ? files : [archive]);

/** Whether all files are there, by their sizes. */
export async function isComplete(set: PublicSet, directory: string): Promise<boolean> {
  for (const { bytes, name } of set.files) {
    const status = await stat(path.join(directory, name)).catch(() => undefined);
    if (status?.size !== bytes) return false;
  }
  return true;
}

/**
 * @throws GradwireError `FETCH_UNDER_WAY`, `FETCH_FAILED`, `DATA_FILE_DIFFERS`,
 * `DISK_FULL`, `OUTPUT_NOT_WRITABLE`; the signal's reason if it is aborted
 */
export async function fetchSet(
  set: PublicSet,
  options: FetchOptions,
): Promise<FetchedSet> {
  const directory = path.resolve(options.directory);
  const data = path.join(directory, set.data ?? '');
  try {
    // A shared copy may be read-only, which is fine.
    if ((await missingOf(set, directory, options.signal)).length === 0) {
      return { data, fetched: 0 };
    }
    await makePlace(directory);
    return { data, fetched: await fetchLocked(set, directory, options) };
  } catch (error) {
    options.signal.throwIfAborted();
    const { syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : fileNotWritable(directory, error);
  }
}

async function fetchLocked(
  set: PublicSet,
  directory: string,
  options: FetchOptions,
): Promise<number> {
  const file = path.join(directory, '.gradwire-fetch.lock');
  const lock = lockOf(file);
  if (lock === undefined) {
    throw failure(
      'FETCH_UNDER_WAY',
      `${set.id} is already being fetched to ${directory}`,
      {
        place: directory,
        next: 'Wait for it to finish, or stop it.',
      },
    );
  }
  try {
    return await fetchInto(set, directory, options);
  } finally {
    await rm(file, { force: true });
    lock.close();
  }
}

async function makePlace(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
  } catch (error) {
    throw fileNotWritable(directory, error);
  }
}

async function missingOf(
  { files }: PublicSet,
  directory: string,
  signal: AbortSignal,
): Promise<readonly PublicFile[]> {
  const missing: PublicFile[] = [];
  for (const file of files) {
    if (!(await isThere(file, directory, signal))) missing.push(file);
  }
  return missing;
}

function lockOf(file: string) {
  try {
    return tryLock(file, 0);
  } catch (error) {
    throw fileNotWritable(file, error);
  }
}

async function fetchInto(
  set: PublicSet,
  directory: string,
  options: FetchOptions,
): Promise<number> {
  const { signal } = options;
  const missing = await missingOf(set, directory, signal);
  const { archive } = set;
  const wanted = archive === undefined ? missing : [archive];
  const total = bytesOf(wanted);
  await requireSpace(directory, wanted, archive === undefined ? [] : missing);
  // Loaded on demand, so that other commands do not wait for the HTTP client.
  const { download } = await import('./download.ts');
  const mirrors = mirrorsOf(set, options.from);
  let before = 0;
  let fetched = 0;
  for (const file of wanted) {
    // An archive that the user has put there.
    if (file === archive && (await isThere(file, directory, signal))) continue;
    const reasons = await download(file, path.join(directory, file.name), mirrors, {
      signal,
      silenceMs: options.silenceMs ?? 30_000,
      arrived: (there, received) => {
        fetched += received;
        options.progress({ file: file.name, done: before + there, total });
      },
    });
    if (reasons !== undefined) throw fetchFailed(set, directory, file, reasons);
    before += file.bytes;
  }
  if (archive !== undefined) {
    const place = path.join(directory, archive.name);
    const { folder } = archive;
    const lost = await unpack(place, folder, missing, directory, signal);
    if (lost.length > 0) {
      const names = lost.map(({ name }) => name).join(', ');
      throw failure(
        'FETCH_FAILED',
        `${archive.name} does not contain the expected ${names}`,
        {
          place,
          next: 'Remove the archive and fetch the set again.',
        },
      );
    }
    await rm(place);
  }
  return fetched;
}

/** The user's own mirror has a folder for each set. */
function mirrorsOf({ id, mirrors }: PublicSet, from?: string): readonly string[] {
  if (from !== undefined) return [endsWithSlash(from)];
  const own = process.env['GRADWIRE_DATA_MIRROR'];
  if (own === undefined || own === '') return mirrors;
  if (!/^https?:$/.test(URL.parse(own)?.protocol ?? '')) {
    // It may have a password, so it is not printed.
    throw inputError('MIRROR_INVALID', 'the mirror is not an http or https URL', {
      place: 'GRADWIRE_DATA_MIRROR',
      next: 'Correct it, or unset it.',
    });
  }
  return [`${endsWithSlash(own)}${id}/`];
}

/** @throws GradwireError `DATA_FILE_DIFFERS`: existing files are not overwritten */
async function isThere(
  file: PublicFile,
  directory: string,
  signal: AbortSignal,
): Promise<boolean> {
  const place = path.join(directory, file.name);
  const status = await stat(place).catch(() => undefined);
  if (status === undefined) return false;
  if (status.size === file.bytes && (await sha256Of(place, signal)) === file.sha256)
    return true;
  throw inputError('DATA_FILE_DIFFERS', `${place} differs from the published file`, {
    place,
    next: 'Move it away and fetch again, or fetch to another directory (--to).',
  });
}

/** @param unpacked files that the download unpacks to */
async function requireSpace(
  directory: string,
  fetched: readonly PublicFile[],
  unpacked: readonly PublicFile[],
): Promise<void> {
  let bytes = bytesOf(unpacked);
  for (const file of fetched) {
    const place = path.join(directory, file.name);
    const sizes = await Promise.all(
      [place, `${place}.part`].map(async (one) => {
        return (await stat(one).catch(() => undefined))?.size ?? 0;
      }),
    );
    bytes += Math.max(0, file.bytes - Math.max(...sizes));
  }
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw failure(
    'DISK_FULL',
    `${directory} has ${formatBytes(free)} free; the data set needs ${formatBytes(bytes)}`,
    { place: directory, next: 'Free some space there.' },
  );
}

/** Tells users without a network which files to put where. */
function fetchFailed(
  set: PublicSet,
  directory: string,
  file: PublicFile,
  reasons: readonly string[],
): GradwireError {
  const { archive } = set;
  const names = (archive === undefined ? set.files : [archive]).map(({ name }) => name);
  return failure('FETCH_FAILED', `cannot fetch ${file.name}: ${reasons.join('; ')}`, {
    place: directory,
    next:
      'Fetch it again to resume. Or download ' +
      `${names.join(', ')} yourself into ${directory}: ` +
      `${names.length > 1 ? 'they are' : 'it is'} checked there. For another mirror: ` +
      `gradwire data fetch ${set.id} --from URL.`,
  });
}

const bytesOf = (files: readonly PublicFile[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

const endsWithSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);
