/** Where on this machine a text, or bytes, can be found that must be found nowhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Wanted = string | Buffer;

/** Arguments and environments of processes with the text in them. */
export function processesWith(wanted: Wanted): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => ['cmdline', 'environ'].map((file) => `/proc/${pid}/${file}`))
    .filter((file) => contains(file, wanted));
}

/** Files in a directory and all below it, of a process that may delete some meanwhile. */
export function filesWith(directory: string, wanted: Wanted): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isFile()) return contains(file, wanted) ? [file] : [];
    if (!entry.isDirectory()) return [];
    try {
      return filesWith(file, wanted);
    } catch (error) {
      if (!existsSync(file)) return [];
      throw error;
    }
  });
}

function contains(file: string, wanted: Wanted): boolean {
  try {
    return readFileSync(file).includes(wanted);
  } catch {
    return false; // the process has ended, or the file is gone
  }
}
