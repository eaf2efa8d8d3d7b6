/**
 * Floats of 8 bits one by one, in f64 arithmetic: a table of all values decides, not the bits.
 * The oracle of the fast kernels.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import {
  FLOAT8,
  largestScale,
  NAN_SCALE,
  requireBlocks,
  SCALE_BLOCK,
  type Float8Type,
  type MicroscalingKernels,
} from '../microscaling.ts';
import { CounterRandom, type RandomStream } from '../random.ts';

const { fround } = Math;
const SIGN = 0x80;

export class ReferenceMicroscaling implements MicroscalingKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  encode(
    type: Float8Type,
    x: Vector,
    scales: Region,
    codes: Region,
    noise?: RandomStream,
  ): void {
    requireBlocks(x.length, scales, codes);
    const values = this.#arena.f32(x);
    const scaleBytes = this.#arena.u8(scales.offset, scales.bytes);
    const codeBytes = this.#arena.u8(codes.offset, x.length);
    const random = noise === undefined ? undefined : new CounterRandom(noise);
    for (let start = 0; start < x.length; start += SCALE_BLOCK) {
      const block = values.subarray(start, start + SCALE_BLOCK);
      const scale = scaleOf(type, block);
      scaleBytes[start / SCALE_BLOCK] = scale;
      for (const [at, value] of block.entries()) {
        const index = start + at;
        const word = random?.bits(Math.floor(index / 2));
        const drawn =
          word === undefined
            ? undefined
            : index % 2 === 0
              ? word & 0xffff
              : word >>> 16;
        codeBytes[index] = codeOf(type, fround(value * 2 ** (127 - scale)), drawn);
      }
    }
  }

  decode(type: Float8Type, scales: Region, codes: Region, out: Vector): void {
    requireBlocks(out.length, scales, codes);
    const scaleBytes = this.#arena.u8(scales.offset, scales.bytes);
    const codeBytes = this.#arena.u8(codes.offset, out.length);
    const values = this.#arena.f32(out);
    for (let index = 0; index < out.length; index++) {
      const scale = scaleBytes[Math.floor(index / SCALE_BLOCK)]!;
      const magnitude = TABLES[type][codeBytes[index]! % SIGN]!;
      const sign = codeBytes[index]! < SIGN ? 1 : -1;
      values[index] = sign * magnitude * 2 ** (scale - 127);
    }
  }

  firstNonFinite(type: Float8Type, { bytes, offset }: Region): number {
    return this.#arena
      .u8(offset, bytes)
      .findIndex((code) => code % SIGN > FLOAT8[type].largest);
  }
}

/** Magnitudes of the codes 0 … 127. */
const TABLES: Readonly<Record<Float8Type, readonly number[]>> = {
  e4m3: magnitudes('e4m3'),
  e5m2: magnitudes('e5m2'),
};

function magnitudes(type: Float8Type): readonly number[] {
  const { bias, fraction, largest } = FLOAT8[type];
  const parts = 2 ** fraction;
  return Array.from({ length: SIGN }, (_, code) => {
    if (code > largest) return Infinity;
    const exponent = Math.floor(code / parts);
    const part = code % parts;
    return exponent === 0
      ? part * 2 ** (1 - bias - fraction)
      : (parts + part) * 2 ** (exponent - bias - fraction);
  });
}

function scaleOf(type: Float8Type, block: Float32Array): number {
  const most = block.reduce((so, value) => Math.max(so, Math.abs(value)), 0);
  if (!(most < Infinity)) return NAN_SCALE;
  const last = TABLES[type][FLOAT8[type].largest]!;
  let scale = 0;
  while (scale < largestScale(type) && most > last * 2 ** (scale - 127)) scale += 1;
  return scale;
}

/** @param drawn 16 random bits; undefined: round to nearest, ties to even */
function codeOf(type: Float8Type, value: number, drawn?: number): number {
  const { largest } = FLOAT8[type];
  const table = TABLES[type];
  const sign = value < 0 || Object.is(value, -0) ? SIGN : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= table[largest]!) return sign + largest;
  let code = 0;
  while (table[code + 1]! <= magnitude) code += 1;
  const rest = (magnitude - table[code]!) / (table[code + 1]! - table[code]!);
  const up =
    drawn === undefined
      ? rest > 0.5 || (rest === 0.5 && code % 2 === 1)
      : Math.floor(rest * 65_536) > drawn;
  return sign + code + Number(up);
}
