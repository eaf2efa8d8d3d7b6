/**
 * Paths of the files of a program's working directory: all that git does not ignore, where the
 * directory belongs to a repository, otherwise all. What every machine makes by itself is left out.
 */
import { execFile } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import { escapeControls } from '../../shared/words/printable.ts';
import { MOST_PATH_BYTES, MOST_TREE_ENTRIES } from '../../shared/protocol/work-tree.ts';

/** Names of directories that are never copied. */
const LEFT_OUT = new Set(['.git', '.venv', '__pycache__', 'node_modules']);
const NO_REPOSITORY = 128;
const TOO_LONG = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
/** The stand-in for bytes that are no text. */
const NO_TEXT = '\ufffd';

/** More files, or longer paths, than a copy may have. */
export const TOO_MANY = `more than ${MOST_TREE_ENTRIES} files to copy`;

/**
 * @returns paths below the directory, some of which may be gone or be no files
 * @throws GradwireError `WORKDIR_UNREADABLE`, `WORKDIR_TOO_LARGE`; the signal's reason if it is
 * aborted
 */
export async function workdirPaths(
  directory: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const paths = await pathsIn(directory, signal);
  const kept = paths.filter((each) =>
    each.split(path.sep).every((name) => !LEFT_OUT.has(name)),
  );
  const odd = kept.find((each) => each.includes(NO_TEXT));
  if (odd !== undefined) {
    throw unreadable(path.join(directory, odd), 'its name is not UTF-8');
  }
  return kept;
}

export function unreadable(place: string, why: string): Error {
  return inputError(
    'WORKDIR_UNREADABLE',
    `cannot copy ${escapeControls(place)}: ${why}`,
    {
      place: 'workload.workdir',
      next: 'Correct the file, or let git ignore it.',
    },
  );
}

/** @param much what the directory has too much of */
export function tooLarge(directory: string, much: string): Error {
  return inputError('WORKDIR_TOO_LARGE', `${directory} has ${much}`, {
    place: 'workload.workdir',
    next: 'Let git ignore data and results, or set workload.copy to false if the directory is on the machines.',
  });
}

/** The message of an error of the system. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

async function pathsIn(
  directory: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  return (await pathsOfGit(directory, signal)) ?? (await pathsBelow(directory, signal));
}

/** Paths that git does not ignore; undefined if the directory is in no repository, or git is missing. */
async function pathsOfGit(
  directory: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { code, stdout, stderr } = await git(directory, args, signal);
  signal?.throwIfAborted();
  if (code === 'ENOENT') return undefined;
  if (code === TOO_LONG) throw tooLarge(directory, TOO_MANY);
  if (code === NO_REPOSITORY && stderr.includes('not a git repository')) {
    return undefined;
  }
  if (code !== 0) {
    const said = stderr.trim().split('\n').at(-1);
    throw unreadable(directory, `git ls-files failed: ${said || String(code)}`);
  }
  const names = new Set(stdout.split('\0').filter((name) => name !== ''));
  const paths: string[] = [];
  for (const name of names) {
    const place = path.join(directory, name);
    // Git calls the directory of a submodule that is not checked out `./`: it has no files.
    if (path.resolve(place) === path.resolve(directory)) continue;
    // Git lists a submodule, or a repository within, as one name.
    const stat = await lstat(place).catch(() => undefined);
    if (stat?.isDirectory() !== true) {
      paths.push(path.normalize(name));
      continue;
    }
    const below = await pathsIn(place, signal);
    for (const each of below) paths.push(path.join(name, each));
  }
  return paths;
}

interface GitAnswer {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function git(
  directory: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<GitAnswer> {
  const { promise, resolve } = Promise.withResolvers<GitAnswer>();
  const options = {
    cwd: directory,
    // Its messages are compared.
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 4 * MOST_PATH_BYTES,
    ...(signal === undefined ? {} : { signal }),
  };
  execFile('git', [...args], options, (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : (error.code ?? 1), stdout, stderr });
  });
  return promise;
}

/** Walks until there are certainly too many. */
async function pathsBelow(
  directory: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const paths: string[] = [];
  const folders = [''];
  for (const folder of folders) {
    signal?.throwIfAborted();
    const place = path.join(directory, folder);
    const entries = await readdir(place, { withFileTypes: true }).catch(
      (cause: unknown) => {
        throw unreadable(place, reasonOf(cause));
      },
    );
    for (const entry of entries) {
      const name = path.join(folder, entry.name);
      if (!entry.isDirectory()) paths.push(name);
      else if (!LEFT_OUT.has(entry.name)) folders.push(name);
    }
    if (paths.length > MOST_TREE_ENTRIES) break;
  }
  return paths;
}
