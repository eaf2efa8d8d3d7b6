/**
 * Memory of this process, through the file that Linux provides for it: a wrong address is an error
 * (EIO) instead of a crash, and nothing is written to pages that are not writable.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

const MEMORY = '/proc/self/mem';
const MAPS = '/proc/self/maps';

/** Addresses at which a library's file is mapped. */
export interface MappedLibrary {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  /** Whether a word at this address may be written. */
  readonly isWritable: (address: number) => boolean;
}

/** The library of this file name, if this process has loaded it. */
export function mappedLibrary(name: string): MappedLibrary | undefined {
  const all = readFileSync(MAPS, 'utf8')
    .split('\n')
    .map((line) => /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ +(\/.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, from, to, permissions, file]) => ({
      from: Number.parseInt(from!, 16),
      to: Number.parseInt(to!, 16),
      isWritable: permissions!.includes('w'),
      file: file!,
    }));
  const first = all.find(({ file }) => file.endsWith(`/${name}`));
  if (first === undefined) return undefined;
  const parts = all.filter(({ file }) => file === first.file);
  return {
    file: first.file,
    from: Math.min(...parts.map(({ from }) => from)),
    to: Math.max(...parts.map(({ to }) => to)),
    isWritable: (address) =>
      parts.some(
        (part) => part.isWritable && address >= part.from && address + 8 <= part.to,
      ),
  };
}

export function readWord(address: number): number {
  const word = Buffer.alloc(8);
  const memory = openSync(MEMORY, 'r');
  try {
    readSync(memory, word, 0, 8, address);
  } finally {
    closeSync(memory);
  }
  return Number(word.readBigUInt64LE());
}

export function writeWord(address: number, value: number): void {
  const word = Buffer.alloc(8);
  word.writeBigUInt64LE(BigInt(value));
  const memory = openSync(MEMORY, 'r+');
  try {
    writeSync(memory, word, 0, 8, address);
  } finally {
    closeSync(memory);
  }
}
