/**
 * Finds where a shared library keeps the address of a function that it imports: the slot
 * of its global offset table that the dynamic linker fills. Read from the file, an ELF
 * library of a 64-bit little-endian machine (System V ABI, "Object Files" and "Dynamic
 * Linking").
 */
import { closeSync, openSync, readSync } from 'node:fs';

const PROGRAM_HEADER = { bytes: 56, load: 1, dynamic: 2 };
const DYNAMIC_ENTRY_BYTES = 16;
const RELOCATION_BYTES = 24;
const SYMBOL_BYTES = 24;
/** Tags of the dynamic section. */
const TAG = { pltBytes: 2, strings: 5, symbols: 6, rela: 7, relaBytes: 8, plt: 23 };
const ELF_64_LITTLE_ENDIAN = Buffer.from('7f454c460201', 'hex');

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
}

/**
 * @param file an ELF library
 * @returns the slot's address relative to the loaded library; undefined if it does not
 * import the function or is not such a library
 */
export function importSlot(file: string, symbol: string): number | undefined {
  const descriptor = openSync(file, 'r');
  try {
    return findSlot(descriptor, Buffer.from(`${symbol}\0`));
  } finally {
    closeSync(descriptor);
  }
}

function findSlot(descriptor: number, symbol: Buffer): number | undefined {
  const header = readAt(descriptor, 0, 64);
  if (!header.subarray(0, 6).equals(ELF_64_LITTLE_ENDIAN)) return undefined;
  const headers = readAt(
    descriptor,
    number(header, 32),
    header.readUInt16LE(56) * PROGRAM_HEADER.bytes,
  );
  const segments = rows(headers, PROGRAM_HEADER.bytes).map((row): Segment => ({
    type: row.readUInt32LE(0),
    offset: number(row, 8),
    address: number(row, 16),
    bytes: number(row, 32),
  }));
  const dynamic = segments.find(({ type }) => type === PROGRAM_HEADER.dynamic);
  if (dynamic === undefined) return undefined;
  const loaded = segments.filter(({ type }) => type === PROGRAM_HEADER.load);
  const at = (address: number, bytes: number): Buffer => {
    const segment = loaded.find(
      (one) => address >= one.address && address < one.address + one.bytes,
    );
    if (segment === undefined) return Buffer.alloc(bytes);
    return readAt(descriptor, address - segment.address + segment.offset, bytes);
  };
  const tags = new Map(
    rows(readAt(descriptor, dynamic.offset, dynamic.bytes), DYNAMIC_ENTRY_BYTES).map(
      (row) => [number(row, 0), number(row, 8)],
    ),
  );
  const [strings, symbols] = [tags.get(TAG.strings), tags.get(TAG.symbols)];
  if (strings === undefined || symbols === undefined) return undefined;
  const tables = [
    [tags.get(TAG.plt), tags.get(TAG.pltBytes)],
    [tags.get(TAG.rela), tags.get(TAG.relaBytes)],
  ];
  for (const [address, bytes] of tables) {
    if (address === undefined || bytes === undefined) continue;
    const slot = rows(at(address, bytes), RELOCATION_BYTES).find((row) => {
      // Relative relocations, the majority, have no symbol.
      const index = row.readUInt32LE(12);
      if (index === 0) return false;
      const name = at(symbols + index * SYMBOL_BYTES, 4).readUInt32LE(0);
      return at(strings + name, symbol.length).equals(symbol);
    });
    if (slot !== undefined) return number(slot, 0);
  }
  return undefined;
}

/** Bytes beyond the file's end read as zeros. */
function readAt(descriptor: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  readSync(descriptor, buffer, 0, bytes, position);
  return buffer;
}

const number = (buffer: Buffer, at: number): number =>
  Number(buffer.readBigUInt64LE(at));

function rows(table: Buffer, bytes: number): readonly Buffer[] {
  return Array.from({ length: Math.floor(table.length / bytes) }, (_, i) =>
    table.subarray(i * bytes, (i + 1) * bytes),
  );
}
