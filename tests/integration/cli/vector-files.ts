/** Vectors in files of a directory, as commands read and write them. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bellShaped } from '../../unit/kernels/adversarial-inputs.ts';

export const LENGTH = 1200;

export const vector = (iteration = 0): Float32Array =>
  Float32Array.from(bellShaped(LENGTH, iteration + 1));

/** Writes and reads files there by their names. */
export function vectorFiles(directory: string) {
  const at = (name: string): string => path.join(directory, name);
  return {
    at,
    put: (name: string, bytes: Uint8Array | Float32Array): string => {
      writeFileSync(
        at(name),
        new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      );
      return at(name);
    },
    floats: (name: string): Float32Array => {
      const bytes = Uint8Array.from(readFileSync(at(name)));
      return new Float32Array(bytes.buffer);
    },
  };
}
