/** A folder of vectors that `gradwire allreduce` reads and writes, empty before each test. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach } from 'vitest';

export function vectorFolder(directory: string) {
  const folder = path.join(directory, 'vectors');
  const inputs = path.join(folder, 'in{rank}.f32');
  const outputs = path.join(folder, 'out{rank}.f32');
  const at = (pattern: string, rank: number) => pattern.replace('{rank}', String(rank));
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });
  return {
    folder,
    inputs,
    at,
    put: (vectors: readonly Float32Array[]): void => {
      for (const [rank, vector] of vectors.entries()) {
        writeFileSync(at(inputs, rank), vector);
      }
    },
    result: (rank: number): Float32Array => {
      const bytes = readFileSync(at(outputs, rank));
      return new Float32Array(Uint8Array.from(bytes).buffer);
    },
    /** Arguments of the command. */
    allreduce: (ranks: number | string, ...more: string[]) => [
      ...['allreduce', '--ranks', String(ranks), ...more],
      ...(more.includes('--in') ? [] : ['--in', inputs]),
      ...(more.includes('--out') ? [] : ['--out', outputs]),
    ],
  };
}
