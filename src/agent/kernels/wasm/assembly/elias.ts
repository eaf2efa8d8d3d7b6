/**
 * Elias ω codes of levels; `../../quantization.ts` has the layout. Codes come and go
 * packed, a tile of 32 at a time, so that memory holds the small form. The reader trusts
 * no bit: every group is bounded, every position checked.
 */
import { packCodes, TILE, TILE_BYTES, unpackCodes } from './packed-codes';

/** Entries of each table: for k < 256, and for packed codes of up to 8 bits. */
const TABLE: u32 = 256;
/** Two tiles, then a table of ω codes, then one of elements' codes in dense form. */
const OMEGA_TABLE: usize = 2 * TILE_BYTES;
const DENSE_TABLE: usize = OMEGA_TABLE + 8 * TABLE;

/** A word of the code: its bits, and above them, in the upper 8, how many. */
const LENGTH_SHIFT: u64 = 56;
const BITS: u64 = 0x00ffffffffffffff;

/** ω(k); at most 43 bits for k < 2³². */
function omega(k: u32): u64 {
  let bits: u64 = 0;
  let length: u64 = 1;
  while (k > 1) {
    const group = 32 - clz(k);
    bits |= (<u64>k) << length;
    length += group;
    k = group - 1;
  }
  return (length << LENGTH_SHIFT) | bits;
}

/** The dense form of an element with this packed code; at most 24 bits. */
function denseWord(code: u32, bits: u32): u64 {
  const shift = bits - 1;
  const level = code & ((1 << shift) - 1);
  const word = omega(level + 1);
  if (level == 0) return word;
  const signed = ((word & BITS) << 1) | (code >>> shift);
  return (((word >> LENGTH_SHIFT) + 1) << LENGTH_SHIFT) | signed;
}

function buildTables(scratch: usize, bits: u32): void {
  for (let k: u32 = 1; k < TABLE; k++) {
    store<u64>(scratch + OMEGA_TABLE + ((<usize>k) << 3), omega(k));
  }
  for (let code: u32 = 0; code < TABLE && code >>> bits == 0; code++) {
    store<u64>(scratch + DENSE_TABLE + ((<usize>code) << 3), denseWord(code, bits));
  }
}

function omegaOf(scratch: usize, k: u32): u64 {
  return k < TABLE ? load<u64>(scratch + OMEGA_TABLE + ((<usize>k) << 3)) : omega(k);
}

function denseOf(scratch: usize, code: u32, bits: u32): u64 {
  return bits <= 8
    ? load<u64>(scratch + DENSE_TABLE + ((<usize>code) << 3))
    : denseWord(code, bits);
}

/**
 * `form`: 0 auto, 1 sparse, 2 dense. `scratch`: 128 bytes and two tables of 2 KiB.
 * Returns bytes.
 */
export function eliasEncode(
  codes: usize,
  n: u32,
  bits: u32,
  form: u32,
  out: usize,
  scratch: usize,
): u32 {
  buildTables(scratch, bits);
  const dense = form == 2 || (form == 0 && denseIsShorter(codes, n, bits, scratch));
  const end = dense
    ? putDense(codes, n, bits, out, scratch)
    : putSparse(codes, n, bits, out, scratch);
  return <u32>(end - out);
}

function denseIsShorter(codes: usize, n: u32, bits: u32, scratch: usize): bool {
  const tile = scratch;
  const mask: u32 = (1 << (bits - 1)) - 1;
  let dense: u64 = 0;
  let sparse: u64 = 0;
  let last: u32 = -1;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const code = <u32>load<u16>(tile + ((<usize>i) << 1));
      dense += denseOf(scratch, code, bits) >> LENGTH_SHIFT;
      const level = code & mask;
      if (level == 0) continue;
      sparse += omegaOf(scratch, start + i - last) >> LENGTH_SHIFT;
      sparse += (omegaOf(scratch, level) >> LENGTH_SHIFT) + 1;
      last = start + i;
    }
    codes += <usize>(bits << 2);
  }
  return dense <= sparse + (omegaOf(scratch, n - last) >> LENGTH_SHIFT);
}

/** Returns the end of what it wrote. */
function putDense(
  codes: usize,
  n: u32,
  bits: u32,
  out: usize,
  scratch: usize,
): usize {
  const tile = scratch;
  // The last `filled` < 32 bits of `pending` wait for a whole word.
  let pending: u64 = 1;
  let filled: u64 = 1;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const code = <u32>load<u16>(tile + ((<usize>i) << 1));
      const word = denseOf(scratch, code, bits);
      const length = word >> LENGTH_SHIFT;
      pending = (pending << length) | (word & BITS);
      filled += length;
      if (filled >= 32) {
        filled -= 32;
        store<u32>(out, bswap(<u32>(pending >> filled)));
        out += 4;
      }
    }
    codes += <usize>(bits << 2);
  }
  if (filled == 0) return out;
  store<u32>(out, bswap(<u32>(pending << (32 - filled))));
  return out + 4;
}

/** The position of the writer of the sparse form. */
let cursor: usize = 0;
let pending: u64 = 0;
let filled: u64 = 0;

/** Writes up to 32 bits. */
function put(bits: u64, length: u64): void {
  pending = (pending << length) | bits;
  filled += length;
  if (filled < 32) return;
  filled -= 32;
  store<u32>(cursor, bswap(<u32>(pending >> filled)));
  cursor += 4;
}

function putOmega(scratch: usize, k: u32): void {
  const word = omegaOf(scratch, k);
  const length = word >> LENGTH_SHIFT;
  const bits = word & BITS;
  if (length <= 32) {
    put(bits, length);
  } else {
    put(bits >> 32, length - 32);
    put(bits & 0xffffffff, 32);
  }
}

/** Returns the end of what it wrote. */
function putSparse(
  codes: usize,
  n: u32,
  bits: u32,
  out: usize,
  scratch: usize,
): usize {
  const tile = scratch;
  const shift = bits - 1;
  const mask: u32 = (1 << shift) - 1;
  let last: u32 = -1;
  cursor = out;
  pending = 0;
  filled = 0;
  put(0, 1);
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tile + TILE_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const code = <u32>load<u16>(tile + ((<usize>i) << 1));
      const level = code & mask;
      if (level == 0) continue;
      putOmega(scratch, start + i - last);
      put(code >>> shift, 1);
      putOmega(scratch, level);
      last = start + i;
    }
    codes += <usize>(bits << 2);
  }
  putOmega(scratch, n - last);
  if (filled == 0) return cursor;
  store<u32>(cursor, bswap(<u32>(pending << (32 - filled))));
  return cursor + 4;
}

/** Table behind the tiles: for the next 8 bits, k and the length of ω(k) if they hold it all. */
const PREFIX_TABLE: usize = 2 * TILE_BYTES;

function buildPrefixTable(scratch: usize): void {
  const table = scratch + PREFIX_TABLE;
  memory.fill(table, 0, 2 * TABLE);
  for (let k: u32 = 1; k < 16; k++) {
    const word = omega(k);
    const length = <u32>(word >> LENGTH_SHIFT);
    const first = (<u32>word) << (8 - length);
    for (let rest: u32 = 0; rest < <u32>1 << (8 - length); rest++) {
      store<u16>(table + ((<usize>(first | rest)) << 1), <u16>((k << 8) | length));
    }
  }
}

/** The bytes that are read, their end in bits, and the position of the reader of gaps. */
let source: usize = 0;
let limit: u64 = 0;
let position: u64 = 0;

/** 57 bits or more from a position on, left-aligned; zeros beyond the end. */
function peek(at: u64): u64 {
  if (at + 64 > limit) return peekNearEnd(at);
  return bswap(load<u64>(source + <usize>(at >> 3))) << (at & 7);
}

function peekNearEnd(at: u64): u64 {
  let word: u64 = 0;
  for (let i: u64 = 0; i < 8; i++) {
    const byte = (at >> 3) + i;
    word <<= 8;
    if (byte << 3 < limit) word |= <u64>load<u8>(source + <usize>byte);
  }
  return word << (at & 7);
}

/** k << 8 | length of the ω code that `word` begins with; 0 if it is too long. */
function parseOmega(word: u64, scratch: usize): u64 {
  const known = <u64>load<u16>(scratch + PREFIX_TABLE + ((<usize>(word >> 56)) << 1));
  if (known != 0) return known;
  let length: u64 = 0;
  let k: u64 = 1;
  while (((word >> (63 - length)) & 1) != 0) {
    const group = k + 1;
    if (group > 32) return 0;
    k = (word << length) >> (64 - group);
    length += group;
  }
  return (k << 8) | (length + 1);
}

/** Returns bytes read, or −1. `scratch`: 128 bytes and tables of 1.5 KiB. */
export function eliasDecode(
  data: usize,
  bytes: u32,
  n: u32,
  levels: u32,
  bits: u32,
  codes: usize,
  scratch: usize,
): i32 {
  buildPrefixTable(scratch);
  source = data;
  limit = (<u64>bytes) << 3;
  position = 1;
  const read =
    peek(0) >> 63 == 1
      ? readDense(n, levels, bits, codes, scratch)
      : readSparse(n, levels, bits, codes, scratch);
  if (!read || position > limit) return -1;
  const used = <u32>((position + 31) >> 5) << 2;
  return used > bytes ? -1 : <i32>used;
}

/** Table behind the first: for the next 8 bits, an element and its length, if they hold it. */
const ELEMENT_TABLE: usize = PREFIX_TABLE + 2 * TABLE;

/** Entries are code << 8 | length. */
function buildElementTable(levels: u32, bits: u32, scratch: usize): void {
  const table = scratch + ELEMENT_TABLE;
  const shift = bits - 1;
  memory.fill(table, 0, 4 * TABLE);
  for (let level: u32 = 0; level <= min(levels, 7); level++) {
    for (let sign: u32 = 0; sign <= u32(level > 0); sign++) {
      const code = (sign << shift) | level;
      const word = denseWord(code, bits);
      const length = <u32>(word >> LENGTH_SHIFT);
      const first = (<u32>word) << (8 - length);
      for (let rest: u32 = 0; rest < <u32>1 << (8 - length); rest++) {
        store<u32>(table + ((<usize>(first | rest)) << 2), (code << 8) | length);
      }
    }
  }
}

function readDense(n: u32, levels: u32, bits: u32, codes: usize, scratch: usize): bool {
  const tile = scratch;
  const table = scratch + ELEMENT_TABLE;
  buildElementTable(levels, bits, scratch);
  let at = position;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    clearTile(tile);
    for (let i: u32 = 0; i < count; i++) {
      const word = peek(at);
      let element = <u64>load<u32>(table + ((<usize>(word >> 56)) << 2));
      if (element == 0) element = parseElement(word, levels, bits, scratch);
      if (element == 0) return false;
      store<u16>(tile + ((<usize>i) << 1), <u16>(element >> 8));
      at += element & 0xff;
    }
    // Beyond the end there are zeros, each of which would be read as an element.
    if (at > limit) return false;
    packCodes(tile, count, bits, codes, tile + TILE_BYTES);
    codes += <usize>(bits << 2);
  }
  position = at;
  return true;
}

/** code << 8 | length of the element that `word` begins with; 0 if there is none. */
function parseElement(word: u64, levels: u32, bits: u32, scratch: usize): u64 {
  const omega = parseOmega(word, scratch);
  const level = (omega >> 8) - 1;
  if (omega == 0 || level > <u64>levels) return 0;
  const length = omega & 0xff;
  if (level == 0) return length;
  const sign = (word << length) >> 63;
  return (((sign << (bits - 1)) | level) << 8) | (length + 1);
}

/** The next ω code; 0 if it is too long or truncated. */
function readOmega(scratch: usize): u32 {
  const code = parseOmega(peek(position), scratch);
  position += code & 0xff;
  return position > limit ? 0 : <u32>(code >> 8);
}

function readSparse(
  n: u32,
  levels: u32,
  bits: u32,
  codes: usize,
  scratch: usize,
): bool {
  const tile = scratch;
  let next = readNext(-1, n, scratch);
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    clearTile(tile);
    while (next < <u64>(start + count)) {
      const sign = <u32>(peek(position) >> 63);
      position++;
      const level = readOmega(scratch);
      if (level == 0 || level > levels) return false;
      const i = <u32>next - start;
      store<u16>(tile + ((<usize>i) << 1), <u16>((sign << (bits - 1)) | level));
      next = readNext(<i64>next, n, scratch);
    }
    packCodes(tile, count, bits, codes, tile + TILE_BYTES);
    codes += <usize>(bits << 2);
  }
  return next == <u64>n;
}

/**
 * Position of the next non-zero; n at the end; greater than n if the stream is invalid.
 */
function readNext(last: i64, n: u32, scratch: usize): u64 {
  const gap = readOmega(scratch);
  return gap == 0 ? <u64>n + 1 : <u64>(last + <i64>gap);
}

function clearTile(tile: usize): void {
  const zero = i32x4.splat(0);
  v128.store(tile, zero);
  v128.store(tile, zero, 16);
  v128.store(tile, zero, 32);
  v128.store(tile, zero, 48);
}
