/**
 * A column of numbers as bytes, every value back to the bit: integers and decimals of three or
 * six digits (times are whole nanoseconds in milliseconds) as differences from the least or
 * from the value before, other numbers as f32 where that is exact, otherwise as f64.
 *
 * Bytes of the same significance lie together: the high ones hardly vary, so the compressor
 * that follows removes them.
 */

/** The code by which a column's bytes are read. */
export type NumberCode =
  | {
      readonly as: 'integers';
      /** Values are integers divided by it. */
      readonly scale: number;
      /** Added to every integer; the first one, if they are differences from the one before. */
      readonly base: number;
      readonly isDelta: boolean;
      /** Bytes of each; 0: all are the base. */
      readonly width: number;
    }
  | { readonly as: 'f32' | 'f64' };

export interface NumberColumn {
  readonly code: NumberCode;
  readonly bytes: Uint8Array;
}

const SCALES = [1, 1e3, 1e6];
/** Differences of two, doubled, are exact below it. */
const MOST = 2 ** 51;

export function encodeNumbers(values: readonly number[]): NumberColumn {
  for (const scale of SCALES) {
    const integers = scaled(values, scale);
    if (integers !== undefined) return encodeIntegers(integers, scale);
  }
  const isSingle = values.every((value) => Object.is(Math.fround(value), value));
  const exact = isSingle ? Float32Array.from(values) : Float64Array.from(values);
  const bytes = new Uint8Array(exact.buffer);
  return {
    code: { as: isSingle ? 'f32' : 'f64' },
    bytes: gathered(bytes, exact.BYTES_PER_ELEMENT),
  };
}

/** @param count how many values it holds */
export function decodeNumbers(
  { code, bytes }: NumberColumn,
  count: number,
): Float64Array {
  if (code.as !== 'integers') {
    const width = bytesPerValue(code);
    const plain = spread(bytes, width).buffer;
    return code.as === 'f64'
      ? new Float64Array(plain)
      : Float64Array.from(new Float32Array(plain));
  }
  const { base, isDelta, scale, width } = code;
  const values = new Float64Array(count).fill(0);
  for (let plane = width - 1; plane >= 0; plane--) {
    const from = plane * count;
    for (let i = 0; i < count; i++) values[i] = values[i]! * 256 + bytes[from + i]!;
  }
  let last = base;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (isDelta) last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    else last = base + value;
    values[i] = last / scale;
  }
  return values;
}

/** Bytes of each value. */
export const bytesPerValue = (code: NumberCode): number =>
  code.as === 'integers' ? code.width : code.as === 'f32' ? 4 : 8;

/** The values times the scale, if these are integers that divide back to the same bits. */
function scaled(values: readonly number[], scale: number): Float64Array | undefined {
  const integers = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const integer = Math.round(value * scale);
    const isExact = integer / scale === value && Math.abs(integer) < MOST;
    if (!isExact || Object.is(integer, -0)) return undefined;
    integers[i] = integer;
  }
  return integers;
}

function encodeIntegers(integers: Float64Array, scale: number): NumberColumn {
  let least = Infinity;
  let most = -Infinity;
  let widest = 0;
  let last = integers[0]!;
  for (const integer of integers) {
    if (integer < least) least = integer;
    if (integer > most) most = integer;
    const step = zigzag(integer - last);
    if (step > widest) widest = step;
    last = integer;
  }
  const isDelta = bytesFor(widest) < bytesFor(most - least);
  const width = bytesFor(isDelta ? widest : most - least);
  const base = isDelta ? integers[0]! : least;
  const count = integers.length;
  const bytes = new Uint8Array(width * count);
  last = base;
  for (let i = 0; i < count; i++) {
    const integer = integers[i]!;
    const value = isDelta ? zigzag(integer - last) : integer - base;
    last = integer;
    // Of most columns no value has more than 32 bits, and those are quick to cut.
    const low = value >>> 0;
    for (let plane = 0; plane < Math.min(width, 4); plane++) {
      bytes[plane * count + i] = low >>> (8 * plane);
    }
    const high = (value - low) / 2 ** 32;
    for (let plane = 4; plane < width; plane++) {
      bytes[plane * count + i] = high >>> (8 * (plane - 4));
    }
  }
  return { code: { as: 'integers', scale, base, isDelta, width }, bytes };
}

const zigzag = (difference: number): number =>
  difference >= 0 ? 2 * difference : -2 * difference - 1;

function bytesFor(most: number): number {
  let bytes = 0;
  for (let rest = most; rest >= 1; rest /= 256) bytes++;
  return bytes;
}

/** Reorders bytes: from value after value to those of the same significance together. */
function gathered(bytes: Uint8Array, width: number): Uint8Array {
  const count = bytes.length / width;
  const planes = new Uint8Array(bytes.length);
  for (let i = 0; i < count; i++) {
    for (let plane = 0; plane < width; plane++) {
      planes[plane * count + i] = bytes[i * width + plane]!;
    }
  }
  return planes;
}

function spread(planes: Uint8Array, width: number): Uint8Array {
  const count = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let i = 0; i < count; i++) {
    for (let plane = 0; plane < width; plane++) {
      bytes[i * width + plane] = planes[plane * count + i]!;
    }
  }
  return bytes;
}
