/** A public data set of two files, made here. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fetchSet, type FetchProgress } from '../../../src/main/data-sets/fetch-set.ts';
import type { PublicFile, PublicSet } from '../../../src/main/data-sets/public-sets.ts';

/** Bytes that nothing compresses and no two files share. */
export function bytesOf(seed: string, length: number): Buffer {
  const pieces: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) {
    pieces.push(createHash('sha256').update(`${seed} ${i}`).digest());
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/** The entry of a file in a data set. */
export const described = (name: string, content: Buffer): PublicFile => ({
  name,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

/** The files of the data set. */
export const contents = new Map([
  ['first.bin', bytesOf('first', 300_000)],
  ['second.bin', bytesOf('second', 100_001)],
]);
export const setAt = (...mirrors: readonly string[]): PublicSet => ({
  id: 'numbers',
  title: 'Numbers',
  source: 'made here',
  workload: { dataset: 'mnist', model: 'fnn3' },
  mirrors,
  files: [...contents].map(([name, content]) => described(name, content)),
});

/** Fetches a data set into a directory. */
export async function fetchInto(
  directory: string,
  set: PublicSet,
  more: {
    signal?: AbortSignal;
    silenceMs?: number;
    seen?: (progress: FetchProgress) => void;
  } = {},
): Promise<{ fetched: number; data: string; progress: readonly FetchProgress[] }> {
  const progress: FetchProgress[] = [];
  const { signal = new AbortController().signal, seen, ...rest } = more;
  const result = await fetchSet(set, {
    directory,
    signal,
    ...rest,
    progress: (one) => {
      progress.push(one);
      seen?.(one);
    },
  });
  return { ...result, progress };
}

/** Expects the files of the data set in a directory, and no parts. */
export function expectAllIn(directory: string): void {
  for (const [name, content] of contents) {
    expect(readFileSync(path.join(directory, name)).equals(content), name).toBe(true);
  }
  expect(readdirSync(directory).filter((name) => name.endsWith('.part'))).toEqual([]);
}

/** The data files that have their names. */
export const named = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.bin'));
