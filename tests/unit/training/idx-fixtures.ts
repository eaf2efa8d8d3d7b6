/** Small IDX files, and a directory for them that is removed after each test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** An IDX file of unsigned bytes: value i is i mod `modulus`. */
export function idxBytes(dimensions: readonly number[], modulus = 256): Buffer {
  const header = Buffer.alloc(4 + 4 * dimensions.length);
  header[2] = 8;
  header[3] = dimensions.length;
  for (const [i, size] of dimensions.entries()) header.writeUInt32BE(size, 4 + 4 * i);
  const count = dimensions.reduce((product, size) => product * size, 1);
  return Buffer.concat([
    header,
    Buffer.from(Uint8Array.from({ length: count }, (_, i) => i % modulus)),
  ]);
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-idx-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Writes files by name, gzipped where the name says so, into a fresh directory. */
export function directoryOf(files: Readonly<Record<string, Buffer>>): string {
  const directory = temporaryDirectory();
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(
      path.join(directory, name),
      name.endsWith('.gz') ? gzipSync(bytes) : bytes,
    );
  }
  return directory;
}
