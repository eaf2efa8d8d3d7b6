/**
 * Tiles of 32 codes between two forms: one u16 each, to compute with, and packed at
 * `bits` bits each, to send. A tile has 4·bits bytes for every width, so tiles never
 * share a byte. Widths 2, 4 and 8 by SIMD.
 */

/** Elements of a tile. */
export const TILE: u32 = 32;
/** Bytes of a tile of u16 codes. */
export const TILE_BYTES: usize = 64;

/** Writes 4·bits bytes. Codes are below 2^bits. */
function packTile(codes: usize, bits: u32, out: usize): void {
  if (bits == 4 || bits == 8 || bits == 2) {
    const low = i8x16.narrow_i16x8_u(v128.load(codes), v128.load(codes, 16));
    const high = i8x16.narrow_i16x8_u(v128.load(codes, 32), v128.load(codes, 48));
    if (bits == 8) {
      v128.store(out, low);
      v128.store(out, high, 16);
    } else if (bits == 4) {
      v128.store(out, i8x16.narrow_i16x8_u(pairNibbles(low), pairNibbles(high)));
    } else {
      const words = i16x8.narrow_i32x4_u(gatherCrumbs(low), gatherCrumbs(high));
      store<u64>(out, i64x2.extract_lane(i8x16.narrow_i16x8_u(words, words), 0));
    }
    return;
  }
  let pending: u64 = 0;
  let filled: u32 = 0;
  for (let i: usize = 0; i < TILE_BYTES; i += 2) {
    pending |= (<u64>load<u16>(codes + i)) << filled;
    filled += bits;
    if (filled >= 32) {
      store<u32>(out, <u32>pending);
      out += 4;
      pending >>= 32;
      filled -= 32;
    }
  }
}

/** Two 4-bit codes in the bytes of each u16: one byte in it. */
function pairNibbles(codes: v128): v128 {
  const pairs = v128.or(codes, i16x8.shr_u(codes, 4));
  return v128.and(pairs, i16x8.splat(0xff));
}

/** Four 2-bit codes in the bytes of each u32: one byte in it. */
function gatherCrumbs(codes: v128): v128 {
  const pairs = v128.or(codes, i32x4.shr_u(codes, 6));
  return v128.and(v128.or(pairs, i32x4.shr_u(pairs, 12)), i32x4.splat(0xff));
}

/** Reads 4·bits bytes. */
function unpackTile(packed: usize, bits: u32, codes: usize): void {
  if (bits == 4) {
    const bytes = v128.load(packed);
    const even = v128.and(bytes, i8x16.splat(15));
    const odd = i8x16.shr_u(bytes, 4);
    storeBytes(codes, v128.shuffle<u8>(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)); // prettier-ignore
    storeBytes(codes + 32, v128.shuffle<u8>(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)); // prettier-ignore
    return;
  }
  if (bits == 8) {
    storeBytes(codes, v128.load(packed));
    storeBytes(codes + 32, v128.load(packed, 16));
    return;
  }
  const mask: u64 = (1 << bits) - 1;
  let pending: u64 = 0;
  let filled: u32 = 0;
  for (let i: usize = 0; i < TILE_BYTES; i += 2) {
    if (filled < bits) {
      pending |= (<u64>load<u32>(packed)) << filled;
      packed += 4;
      filled += 32;
    }
    store<u16>(codes + i, <u16>(pending & mask));
    pending >>= bits;
    filled -= bits;
  }
}

function storeBytes(codes: usize, bytes: v128): void {
  v128.store(codes, i16x8.extend_low_i8x16_u(bytes));
  v128.store(codes, i16x8.extend_high_i8x16_u(bytes), 16);
}

/** Packs `count` ≤ 32 codes and writes only their own bytes. */
export function packCodes(
  codes: usize,
  count: u32,
  bits: u32,
  out: usize,
  scratch: usize,
): void {
  if (count == TILE) {
    packTile(codes, bits, out);
    return;
  }
  packTile(codes, bits, scratch);
  memory.copy(out, scratch, tailBytes(count, bits));
}

/** Unpacks `count` ≤ 32 codes and reads only their own bytes; then zeros. */
export function unpackCodes(
  packed: usize,
  count: u32,
  bits: u32,
  codes: usize,
  scratch: usize,
): void {
  if (count == TILE) {
    unpackTile(packed, bits, codes);
    return;
  }
  const bytes = tailBytes(count, bits);
  memory.fill(scratch, 0, TILE_BYTES);
  memory.copy(scratch, packed, bytes);
  unpackTile(scratch, bits, codes);
}

/** Whole words of 4 bytes, as packed codes end. */
function tailBytes(count: u32, bits: u32): usize {
  return <usize>(((count * bits + 31) >>> 5) << 2);
}
