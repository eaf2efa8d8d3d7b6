/**
 * Files that save later processes the work of this one: what is kept beside the compiled code. A file
 * begins with a checksum, is written atomically, and counts as absent if it is damaged. Whoever cannot
 * read or write one does the work again.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const CHECKSUM = 4;

/** The content of a file by `writeChecked`; undefined if there is none, or not as it was written. */
export function readChecked(file: string): Buffer | undefined {
  let whole: Buffer;
  try {
    whole = readFileSync(file);
  } catch {
    return undefined;
  }
  if (whole.length < CHECKSUM) return undefined;
  const content = whole.subarray(CHECKSUM);
  return whole.readUInt32LE(0) === crc32(content) ? content : undefined;
}

/** Writes the parts one after another, for this user alone; without effect where that fails. */
export function writeChecked(file: string, parts: readonly Uint8Array[]): void {
  const checksum = Buffer.alloc(CHECKSUM);
  checksum.writeUInt32LE(parts.reduce((sum, part) => crc32(part, sum), 0));
  const draft = `${file}.${process.pid}`;
  const written = attempt(() => {
    writeFileSync(draft, Buffer.concat([checksum, ...parts]), { mode: 0o600 });
    renameSync(draft, file);
  });
  if (!written) attempt(() => rmSync(draft, { force: true }));
}

/** Whether it succeeded. */
export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
