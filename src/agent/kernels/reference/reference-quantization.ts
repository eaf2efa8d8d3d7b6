/**
 * The quantising kernels element by element, as `../quantization.ts` defines them: the
 * oracle of the fast ones. It allocates freely.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import {
  clippedAt,
  roundedMeanOf,
  roundedNormOf,
  fixedSumsOf,
  type FixedSums,
} from '../fixed-point.ts';
import { requireCapacity, requireElements } from '../preconditions.ts';
import {
  codeBits,
  levelUnit,
  packedBytes,
  runsOf,
  type EliasForm,
  type QuantizationKernels,
  type Quantizer,
  type ScaleKind,
} from '../quantization.ts';
import { CounterRandom, type RandomStream } from '../random.ts';
import { eliasBits, readElias, type Code } from './elias.ts';

const { fround } = Math;

export class ReferenceQuantization implements QuantizationKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  quantize(
    x: Vector,
    { levels, runLength }: Quantizer,
    kind: ScaleKind | 'given',
    noise: RandomStream,
    scales: Vector,
    codes: Region,
  ): void {
    requireElements(scales, runsOf(x.length, runLength));
    const values = this.#arena.f32(x);
    const scaleOf = this.#arena.f32(scales);
    const random = new CounterRandom(noise);
    const packed: Code[] = [];
    for (let run = 0; run * runLength < x.length; run++) {
      const elements = values.subarray(run * runLength, (run + 1) * runLength);
      if (kind !== 'given') scaleOf[run] = scaleOfRun(elements, kind);
      const scale = scaleOf[run]!;
      elements.forEach((value, place) => {
        const y = inFractions(value, scale, levels);
        const level = roundUp(y, random, run * runLength + place);
        packed.push({ level, negative: value < 0 });
      });
    }
    this.#pack(packed, codeBits(levels), codes);
  }

  dequantize(
    out: Vector,
    { levels, runLength }: Quantizer,
    scales: Vector,
    codes: Region,
    add: boolean,
  ): void {
    requireElements(scales, runsOf(out.length, runLength));
    const scaleOf = this.#arena.f32(scales);
    const unpacked = this.#unpack(codes, out.length, codeBits(levels));
    this.#write(out, add, (index) => {
      const { level, negative } = unpacked[index]!;
      const { unit, factor } = levelUnit(
        scaleOf[Math.floor(index / runLength)]!,
        levels,
      );
      return fround(fround((negative ? -level : level) * unit) * factor);
    });
  }

  largestLevel(codes: Region, count: number, levels: number): number {
    const unpacked = this.#unpack(codes, count, codeBits(levels));
    return unpacked.reduce((largest, { level }) => Math.max(largest, level), 0);
  }

  clippedMaximum(x: Vector, clip: number): number {
    const values = this.#arena.f32(x);
    const largest = largestOf(values);
    const n = values.length;
    if (n === 0 || clip === 0) return largest;
    return clippedAt(largest, clip, fixedSumsOf(values));
  }

  fixedSums(x: Vector): FixedSums {
    return fixedSumsOf(this.#arena.f32(x));
  }

  eliasEncode(
    codes: Region,
    count: number,
    levels: number,
    form: EliasForm,
    out: Region,
  ): number {
    const bits = eliasBits(this.#unpack(codes, count, codeBits(levels)), form);
    const bytes = packedBytes(bits.length, 1);
    const written = this.#arena.u8(out.offset, bytes).fill(0);
    bits.forEach((bit, index) => {
      written[index >> 3]! |= bit << (7 - (index & 7));
    });
    return bytes;
  }

  eliasDecode(data: Region, count: number, levels: number, codes: Region): number {
    const bytes = this.#arena.u8(data.offset, data.bytes);
    const read = readElias(bytes, count, levels);
    if (read === undefined) return -1;
    this.#pack(read.codes, codeBits(levels), codes);
    return read.bytes;
  }

  quantizeSigns(x: Vector, runLength: number, means: Vector, signs: Region): void {
    requireElements(means, 2 * runsOf(x.length, runLength));
    const values = this.#arena.f32(x);
    const written = this.#arena.f32(means);
    const negatives = Array.from(values, (value) => Number(value < 0));
    for (let run = 0; run * runLength < x.length; run++) {
      const elements = values.subarray(run * runLength, (run + 1) * runLength);
      written[2 * run] = roundedMeanOf(
        fixedSumsOf(elements.filter((value) => value >= 0)),
      );
      written[2 * run + 1] = roundedMeanOf(
        fixedSumsOf(elements.filter((value) => value < 0)),
      );
      elements.forEach((value, place) => {
        elements[place] = value - written[2 * run + Number(value < 0)]!;
      });
    }
    this.#packFields(negatives, 1, signs);
  }

  dequantizeSigns(
    out: Vector,
    runLength: number,
    means: Vector,
    signs: Region,
    add: boolean,
  ): void {
    requireElements(means, 2 * runsOf(out.length, runLength));
    const values = this.#arena.f32(means);
    const negatives = this.#unpackFields(signs, out.length, 1);
    this.#write(
      out,
      add,
      (index) => values[2 * Math.floor(index / runLength) + negatives[index]!]!,
    );
  }

  #write(out: Vector, add: boolean, valueOf: (index: number) => number): void {
    const values = this.#arena.f32(out);
    values.forEach((before, index) => {
      values[index] = (add ? before : 0) + valueOf(index);
    });
  }

  #pack(codes: readonly Code[], bits: number, out: Region): void {
    const sign = 2 ** (bits - 1);
    const fields = codes.map(({ level, negative }) => level + (negative ? sign : 0));
    this.#packFields(fields, bits, out);
  }

  #unpack(codes: Region, count: number, bits: number): Code[] {
    const sign = 2 ** (bits - 1);
    return this.#unpackFields(codes, count, bits).map((field) => ({
      level: field % sign,
      negative: field >= sign,
    }));
  }

  #packFields(fields: readonly number[], bits: number, out: Region): void {
    const size = packedBytes(fields.length, bits);
    requireCapacity(out, size);
    const bytes = this.#arena.u8(out.offset, size).fill(0);
    fields.forEach((field, index) => {
      for (let bit = 0; bit < bits; bit++) {
        const at = index * bits + bit;
        bytes[at >> 3]! |= ((field >> bit) & 1) << (at & 7);
      }
    });
  }

  #unpackFields(data: Region, count: number, bits: number): number[] {
    const size = packedBytes(count, bits);
    requireCapacity(data, size);
    const bytes = this.#arena.u8(data.offset, size);
    return Array.from({ length: count }, (_, index) => {
      let field = 0;
      for (let bit = 0; bit < bits; bit++) {
        const at = index * bits + bit;
        field |= ((bytes[at >> 3]! >> (at & 7)) & 1) << bit;
      }
      return field;
    });
  }
}

function scaleOfRun(values: Float32Array, kind: ScaleKind): number {
  if (kind === 'max') return largestOf(values);
  return roundedNormOf(fixedSumsOf(values));
}

function largestOf(values: Float32Array): number {
  return values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
}

/** y: the level of a value before rounding, in units of 2⁻¹⁶. */
function inFractions(value: number, scale: number, levels: number): number {
  const lift = scale < 2 ** -64 ? 2 ** 64 : scale > 2 ** 64 ? 2 ** -64 : 1;
  const factor = scale === 0 ? 0 : fround((65_536 * levels) / fround(scale * lift));
  const y = fround(fround(Math.abs(value) * lift) * factor);
  return Math.min(y, 65_536 * levels);
}

function roundUp(y: number, random: CounterRandom, index: number): number {
  const whole = Math.floor(y);
  const level = Math.floor(whole / 65_536);
  const fraction = whole % 65_536;
  const word = random.bits(Math.floor(index / 2));
  const drawn = index % 2 === 0 ? word & 0xffff : word >>> 16;
  if (fraction !== drawn) return level + Number(fraction > drawn);
  return level + Number(y - whole > random.uniform(2 ** 33 + index));
}
