/**
 * 16-bit values one by one, in f64 arithmetic: the distance to the neighbours decides, not the
 * bits. The oracle of the fast kernels.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { HalfType } from '../../memory/value-type.ts';
import {
  EXPONENT_BITS,
  requireHalves,
  type HalfPrecisionKernels,
} from '../half-precision.ts';
import { CounterRandom, type RandomStream } from '../random.ts';

const { fround } = Math;

/** Bits of the fraction, and the exponent of the smallest normal value. */
const FORMATS: Readonly<Record<HalfType, { fraction: number; least: number }>> = {
  bfloat16: { fraction: 7, least: -126 },
  binary16: { fraction: 10, least: -14 },
};

export class ReferenceHalfPrecision implements HalfPrecisionKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  narrow(
    type: HalfType,
    x: Vector,
    factor: number,
    out: Region,
    noise?: RandomStream,
  ): void {
    requireHalves(out, x.length);
    const codes = this.#view(out.offset, x.length);
    const random = noise === undefined ? undefined : new CounterRandom(noise);
    this.#arena.f32(x).forEach((value, index) => {
      const word = random?.bits(Math.floor(index / 2));
      const drawn =
        word === undefined ? undefined : index % 2 === 0 ? word & 0xffff : word >>> 16;
      const code = codeOf(type, fround(value * fround(factor)), drawn);
      codes.setUint16(2 * index, code, true);
    });
  }

  widen(type: HalfType, data: Region, out: Vector): void {
    requireHalves(data, out.length);
    const codes = this.#view(data.offset, out.length);
    const values = this.#arena.f32(out);
    for (let index = 0; index < out.length; index++) {
      values[index] = valueOf(type, codes.getUint16(2 * index, true));
    }
  }

  firstNonFinite(type: HalfType, { bytes, offset }: Region): number {
    const codes = this.#view(offset, Math.floor(bytes / 2));
    const exponent = EXPONENT_BITS[type];
    for (let index = 0; index < Math.floor(bytes / 2); index++) {
      if ((codes.getUint16(2 * index, true) & exponent) === exponent) return index;
    }
    return -1;
  }

  add(type: HalfType, out: Vector, x: Vector): void {
    const sums = this.#view(out.offset, out.length);
    const others = this.#view(x.offset, x.length);
    for (let at = 0; at < 2 * out.length; at += 2) {
      const sum =
        valueOf(type, sums.getUint16(at, true)) +
        valueOf(type, others.getUint16(at, true));
      sums.setUint16(at, codeOf(type, fround(sum)), true);
    }
  }

  #view(offset: number, length: number): DataView {
    const bytes = this.#arena.u8(offset, 2 * length);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

/** @param drawn 16 random bits; undefined: round to nearest, ties to even */
function codeOf(type: HalfType, value: number, drawn?: number): number {
  const { fraction, least } = FORMATS[type];
  const negative = value < 0 || Object.is(value, -0);
  const magnitude = Math.abs(value);
  // The gap to the next value, and the magnitude in gaps: exact in f64.
  const exponent = Math.max(least, exponentOf(magnitude));
  const steps = magnitude / 2 ** (exponent - fraction);
  const whole = Math.floor(steps);
  const rest = steps - whole;
  const up =
    drawn === undefined
      ? rest > 0.5 || (rest === 0.5 && whole % 2 === 1)
      : Math.floor(rest * 65_536) > drawn;
  // Codes count the values upwards; a carry into the exponent is the next value, too.
  const code = (exponent - least) * 2 ** fraction + whole + Number(up);
  return Math.min(code, EXPONENT_BITS[type] - 1) + (negative ? 0x8000 : 0);
}

/** ⌊log₂⌋ of an f32, from its exponent as an f64, where it is normal. */
function exponentOf(magnitude: number): number {
  if (magnitude === 0) return -Infinity;
  const [, high] = new Uint32Array(Float64Array.of(magnitude).buffer);
  return (high! >>> 20) - 1023;
}

function valueOf(type: HalfType, code: number): number {
  const { fraction, least } = FORMATS[type];
  const exponent = (code & 0x7fff) >> fraction;
  const part = code & (2 ** fraction - 1);
  const sign = code >= 0x8000 ? -1 : 1;
  if ((code & EXPONENT_BITS[type]) === EXPONENT_BITS[type]) {
    return part === 0 ? sign * Infinity : NaN;
  }
  const magnitude =
    exponent === 0
      ? part * 2 ** (least - fraction)
      : (part + 2 ** fraction) * 2 ** (least + exponent - 1 - fraction);
  return sign * magnitude;
}
