/**
 * known_hosts files on disk. The user's and the system's are read, never written; keys
 * accepted here go to our own file in the same format, which `ssh` can use as another
 * UserKnownHostsFile.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { failure } from '../../../shared/errors/errors.ts';
import type { HostKey } from './host-key.ts';
import { parseKnownHosts, type KnownHosts } from './known-hosts.ts';

/** A larger file is not a known_hosts file. */
const MAX_BYTES = 16 * 2 ** 20;

/** The entries of all files. A missing file has none; an unreadable one is reported. */
export function readKnownHosts(files: readonly string[]): KnownHosts {
  const parts = files.map(readOne);
  return {
    entries: parts.flatMap(({ entries }) => entries),
    skipped: parts.flatMap(({ skipped }) => skipped),
  };
}

function readOne(file: string): KnownHosts {
  const skip = (reason: string): KnownHosts => ({
    entries: [],
    skipped: [{ place: file, reason }],
  });
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { entries: [], skipped: [] } : skip(message);
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size > MAX_BYTES) return skip(`larger than ${MAX_BYTES} bytes`);
    return parseKnownHosts(readFileSync(descriptor, 'utf8'), file);
  } catch (cause) {
    return skip((cause as Error).message);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Adds a key to our own file: one write to the file's end, so that two processes do not mix
 * their lines.
 * @throws GradwireError `HOST_KEY_NOT_SAVED`
 */
export function rememberHostKey(file: string, name: string, key: HostKey): void {
  try {
    const descriptor = openSync(file, 'a+', 0o600);
    try {
      const { size } = fstatSync(descriptor);
      const last = Buffer.alloc(1);
      if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
      // An unfinished last line must not swallow ours.
      const start = size > 0 && last.toString() !== '\n' ? '\n' : '';
      writeSync(
        descriptor,
        `${start}${name} ${key.type} ${key.blob.toString('base64')}\n`,
      );
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw failure(
      'HOST_KEY_NOT_SAVED',
      `cannot save the host key of ${name}: ${(cause as Error).message}`,
      {
        place: file,
        next: 'Check that you own the home directory and that its disk is not full.',
      },
    );
  }
}
