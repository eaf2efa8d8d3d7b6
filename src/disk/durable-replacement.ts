/**
 * Durable replacement of a file: after a crash or a power cut its name leads to the whole old
 * content or the whole new one, and once the call has returned, to the new one.
 *
 *   await writeFile(draft, content);
 *   await replaceDurably(draft, file);
 *
 * The draft lies in the same directory. Its content is synced before the rename; the rename
 * changes the directory, so that is synced after it.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';

/** Puts the draft in the file's place. */
export async function replaceDurably(draft: string, file: string): Promise<void> {
  await sync(draft, 'r+');
  await rename(draft, file);
  if (!SYNCS_DIRECTORIES) return;
  await sync(path.dirname(file), 'r').catch((error: unknown) => {
    if (!isUnsupported(error)) throw error;
  });
}

async function sync(file: string, flags: string): Promise<void> {
  const handle = await open(file, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a draft for the user alone, beside the file, and puts it in the file's place. */
export function writeDurablySync(file: string, content: string | Uint8Array): void {
  const draft = `${file}.draft`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    // On a full disk half a draft would stay.
    rmSync(draft, { force: true });
    throw error;
  }
  syncDirectory(path.dirname(file));
}

/** Names that were made, changed or removed in the directory survive a power cut. */
export function syncDirectory(directory: string): void {
  if (!SYNCS_DIRECTORIES) return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Windows opens no directories; its file systems journal renames. */
const SYNCS_DIRECTORIES = process.platform !== 'win32';

/** Some file systems (SMB, some FUSE) cannot sync a directory. */
function isUnsupported(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EINVAL' || code === 'ENOTSUP' || code === 'EISDIR';
}
