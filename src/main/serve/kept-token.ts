/**
 * The access token of a server on a port that the user chose. It is kept in the home, so that
 * pages that are open, and bookmarks of them, are valid again when the server is started again.
 * A server on any free port has a new token each time: no page finds it again.
 */
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeToken } from './access.ts';

const FILE = 'access-token';
const TOKEN = /^[\w-]{43}$/;

/** @param directory the home, private to the user and held by this process */
export async function keptToken(directory: string): Promise<string> {
  const file = path.join(directory, FILE);
  const kept = await readPrivate(file);
  if (kept !== undefined && TOKEN.test(kept)) return kept;
  const token = makeToken();
  try {
    await rm(file, { force: true });
    await using made = await open(file, 'wx', 0o600);
    await made.writeFile(token);
  } catch {
    // A full disk: this server has it, and the next one another.
  }
  return token;
}

/** Reads a file of this user; undefined if it is missing, or another user may own or have read it. */
async function readPrivate(file: string): Promise<string | undefined> {
  try {
    await using found = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { mode, uid } = await found.stat();
    const isMine = process.getuid === undefined || uid === process.getuid();
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0;
    return isMine && isPrivate ? await found.readFile('utf8') : undefined;
  } catch {
    // None yet, or a link, which another program made: it is replaced.
    return undefined;
  }
}
