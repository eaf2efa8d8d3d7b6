/**
 * Elias ω codes of levels; `../../quantization.ts` has the layout. Codes come and go
 * packed, a tile of 32 at a time, so that memory holds the small form. The reader trusts
 * no bit: every group is bounded, every position checked.
 */
import { packCodes, TILE, TILE_BYTES, unpackCodes } from './packed-codes';

/** Codes of k < 256, so that most are looked up: u32 bits, u32 length. */
const TABLE: u32 = 256;
const TABLE_BYTES: usize = 8 * TABLE;

/** The bits and, in the upper 8, the length of ω(k); at most 42 bits for k < 2³². */
function omega(k: u32): u64 {
  let bits: u64 = 0;
  let length: u64 = 1;
  while (k > 1) {
    const group = 32 - clz(k);
    bits |= (<u64>k) << length;
    length += group;
    k = group - 1;
  }
  return (length << 56) | bits;
}

function buildTable(table: usize): void {
  for (let k: u32 = 1; k < TABLE; k++) {
    store<u64>(table + ((<usize>k) << 3), omega(k));
  }
}

function codeOf(table: usize, k: u32): u64 {
  return k < TABLE ? load<u64>(table + ((<usize>k) << 3)) : omega(k);
}

function lengthOf(table: usize, k: u32): u64 {
  return codeOf(table, k) >> 56;
}

/** Where the writer stands: next byte, and bits in front of it, left-aligned. */
let cursor: usize = 0;
let pending: u64 = 0;
let filled: u64 = 0;

/** Writes `length` ≤ 56 bits, and up to 8 bytes beyond them. */
function put(bits: u64, length: u64): void {
  pending |= bits << (64 - filled - length);
  filled += length;
  store<u64>(cursor, bswap(pending));
  const bytes = filled >> 3;
  cursor += <usize>bytes;
  // Two steps: a shift by 64 would be one by 0.
  pending = (pending << (bytes << 2)) << (bytes << 2);
  filled &= 7;
}

function putOmega(table: usize, k: u32): void {
  const code = codeOf(table, k);
  put(code & 0x00ffffffffffffff, code >> 56);
}

/** `form`: 0 auto, 1 sparse, 2 dense. `scratch`: 128 + 2048 bytes. Returns bytes. */
export function eliasEncode(
  codes: usize,
  n: u32,
  bits: u32,
  form: u32,
  out: usize,
  scratch: usize,
): u32 {
  const table = scratch + 2 * TILE_BYTES;
  buildTable(table);
  cursor = out;
  pending = 0;
  filled = 0;
  if (form == 2 || (form == 0 && denseIsShorter(codes, n, bits, scratch))) {
    putDense(codes, n, bits, scratch);
  } else {
    putSparse(codes, n, bits, scratch);
  }
  // Zeros behind the last bits, which this stores once more.
  store<u64>(cursor, bswap(pending));
  const bytes = <u32>(cursor - out) + u32(filled > 0);
  return (bytes + 3) & ~3;
}

function denseIsShorter(codes: usize, n: u32, bits: u32, scratch: usize): bool {
  const tile = scratch;
  const table = scratch + 2 * TILE_BYTES;
  const mask: u32 = (1 << (bits - 1)) - 1;
  let dense: u64 = 0;
  let sparse: u64 = 0;
  let last: u32 = -1;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const level = (<u32>load<u16>(tile + ((<usize>i) << 1))) & mask;
      dense += lengthOf(table, level + 1);
      if (level == 0) continue;
      dense++;
      sparse += lengthOf(table, start + i - last) + 1 + lengthOf(table, level);
      last = start + i;
    }
    codes += <usize>(bits << 2);
  }
  return dense <= sparse + lengthOf(table, n - last);
}

function putDense(codes: usize, n: u32, bits: u32, scratch: usize): void {
  const tile = scratch;
  const table = scratch + 2 * TILE_BYTES;
  const shift = bits - 1;
  const mask: u32 = (1 << shift) - 1;
  put(1, 1);
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const code = <u32>load<u16>(tile + ((<usize>i) << 1));
      const level = code & mask;
      if (level == 0) {
        put(0, 1);
      } else {
        const word = codeOf(table, level + 1);
        put(((word & 0x00ffffffffffffff) << 1) | (code >>> shift), (word >> 56) + 1);
      }
    }
    codes += <usize>(bits << 2);
  }
}

function putSparse(codes: usize, n: u32, bits: u32, scratch: usize): void {
  const tile = scratch;
  const table = scratch + 2 * TILE_BYTES;
  const shift = bits - 1;
  const mask: u32 = (1 << shift) - 1;
  let last: u32 = -1;
  put(0, 1);
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const code = <u32>load<u16>(tile + ((<usize>i) << 1));
      const level = code & mask;
      if (level == 0) continue;
      putOmega(table, start + i - last);
      const word = codeOf(table, level);
      const sign = (<u64>(code >>> shift)) << (word >> 56);
      put(sign | (word & 0x00ffffffffffffff), (word >> 56) + 1);
      last = start + i;
    }
    codes += <usize>(bits << 2);
  }
  putOmega(table, n - last);
}

/** Where the reader stands, in bits from `source`, and where the bytes end. */
let source: usize = 0;
let position: u64 = 0;
let limit: u64 = 0;

/** The next 57 bits or more, left-aligned; zeros beyond the end. */
function peek(): u64 {
  const byte = position >> 3;
  const at = source + <usize>byte;
  if (position + 64 <= limit) return bswap(load<u64>(at)) << (position & 7);
  return peekNearEnd();
}

function peekNearEnd(): u64 {
  let word: u64 = 0;
  for (let i: u64 = 0; i < 8; i++) {
    const byte = (position >> 3) + i;
    word <<= 8;
    if (byte << 3 < limit) word |= <u64>load<u8>(source + <usize>byte);
  }
  return word << (position & 7);
}

/** The next ω code, or 0 where there is none: too long, or cut off. */
function readOmega(): u32 {
  const word = peek();
  let used: u64 = 0;
  let k: u64 = 1;
  // Codes of k < 2³² have at most 42 bits.
  while (((word >> (63 - used)) & 1) != 0) {
    const group = k + 1;
    if (group > 32) return 0;
    k = (word << used) >> (64 - group);
    used += group;
  }
  position += used + 1;
  return position > limit ? 0 : <u32>k;
}

function readBit(): u32 {
  const bit = position < limit ? load<u8>(source + <usize>(position >> 3)) : 0;
  const value = (bit >> (<u8>(7 - (position & 7)))) & 1;
  position++;
  return <u32>value;
}

/** Returns bytes read, or −1. `scratch`: 128 bytes. */
export function eliasDecode(
  data: usize,
  bytes: u32,
  n: u32,
  levels: u32,
  bits: u32,
  codes: usize,
  scratch: usize,
): i32 {
  source = data;
  position = 0;
  limit = (<u64>bytes) << 3;
  const read =
    readBit() == 1
      ? readDense(n, levels, bits, codes, scratch)
      : readSparse(n, levels, bits, codes, scratch);
  if (!read || position > limit) return -1;
  const used = (<u32>((position + 31) >> 5)) << 2;
  return used > bytes ? -1 : <i32>used;
}

function readDense(n: u32, levels: u32, bits: u32, codes: usize, tile: usize): bool {
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    clearTile(tile);
    for (let i: u32 = 0; i < count; i++) {
      const k = readOmega();
      if (k == 0 || k - 1 > levels) return false;
      if (k == 1) continue;
      const code = (readBit() << (bits - 1)) | (k - 1);
      store<u16>(tile + ((<usize>i) << 1), <u16>code);
    }
    packCodes(tile, count, bits, codes, tile + TILE_BYTES);
    codes += <usize>(bits << 2);
  }
  return true;
}

function readSparse(n: u32, levels: u32, bits: u32, codes: usize, tile: usize): bool {
  let next = readNext(-1, n);
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    clearTile(tile);
    while (next < <u64>(start + count)) {
      const sign = readBit();
      const level = readOmega();
      if (level == 0 || level > levels) return false;
      const i = <u32>next - start;
      store<u16>(tile + ((<usize>i) << 1), <u16>((sign << (bits - 1)) | level));
      next = readNext(<i64>next, n);
    }
    packCodes(tile, count, bits, codes, tile + TILE_BYTES);
    codes += <usize>(bits << 2);
  }
  return next == <u64>n;
}

/** Place of the next non-zero, n at the end; beyond n where the stream is none. */
function readNext(last: i64, n: u32): u64 {
  const gap = readOmega();
  return gap == 0 ? <u64>n + 1 : <u64>(last + <i64>gap);
}

function clearTile(tile: usize): void {
  const zero = i32x4.splat(0);
  v128.store(tile, zero);
  v128.store(tile, zero, 16);
  v128.store(tile, zero, 32);
  v128.store(tile, zero, 48);
}
