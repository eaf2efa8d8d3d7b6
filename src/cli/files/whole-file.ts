/**
 * Writes a file whole or not at all: into a draft beside it, which takes its place once it is
 * complete. What was there before stays until then, whatever ends the writing. A pipe or a device,
 * and a file whose directory takes no others, is written where it is.
 */
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { rename } from 'node:fs/promises';
import path from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @param write writes all of it to the path that it gets */
export async function writeWhole(
  file: string,
  write: (place: string) => Promise<void>,
): Promise<void> {
  if (file === '' || file.endsWith('/') || file.endsWith(path.sep)) {
    const message = file === '' ? 'the path is empty' : `${file} ends with a slash`;
    throw Object.assign(new Error(message), { code: 'EISDIR', syscall: 'open' });
  }
  const found = statSync(file, { throwIfNoEntry: false });
  const isReplaced = found === undefined ? !isThere(file) : found.isFile();
  const draft = isReplaced ? draftFor(file, found?.mode) : undefined;
  if (draft === undefined) {
    await write(file);
    return;
  }
  const remove = (): void => {
    rmSync(draft.path, { force: true });
  };
  const leave = (signal: NodeJS.Signals): void => {
    remove();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.on(signal, leave);
  try {
    await write(draft.path);
    await rename(draft.path, draft.target);
  } catch (error) {
    remove();
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}

/** Whether there is something, if only a link that leads nowhere. */
const isThere = (file: string): boolean =>
  lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** An empty draft beside the file to which the path leads; undefined if there can be none. */
function draftFor(
  file: string,
  mode: number | undefined,
): { readonly path: string; readonly target: string } | undefined {
  try {
    const target = mode === undefined ? path.resolve(file) : realpathSync(file);
    const draft = path.join(path.dirname(target), `.gradwire-${process.pid}.tmp`);
    closeSync(openSync(draft, 'wx'));
    if (mode !== undefined) chmodSync(draft, mode & 0o777);
    return { path: draft, target };
  } catch {
    // Writing it where it is tells the reason, or succeeds.
    return undefined;
  }
}
