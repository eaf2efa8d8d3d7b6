/**
 * Elias ω codes bit by bit, as the oracle of the fast coder. A bit stream is an array of
 * zeros and ones: obvious, slow. `../quantization.ts` has the layout.
 *
 * Source: Elias, "Universal codeword sets and representations of the integers" (1975).
 */
import type { EliasForm } from '../quantization.ts';

/** A level with its sign. */
export interface Code {
  readonly level: number;
  readonly negative: boolean;
}

export function omegaBits(k: number): number[] {
  const bits = [0];
  for (let rest = k; rest > 1;) {
    const group = [...rest.toString(2)].map(Number);
    bits.unshift(...group);
    rest = group.length - 1;
  }
  return bits;
}

export function eliasBits(codes: readonly Code[], form: EliasForm): number[] {
  switch (form) {
    case 'dense':
      return denseBits(codes);
    case 'sparse':
      return sparseBits(codes);
    case 'auto': {
      const dense = denseBits(codes);
      const sparse = sparseBits(codes);
      return dense.length <= sparse.length ? dense : sparse;
    }
    default:
      return form satisfies never;
  }
}

function denseBits(codes: readonly Code[]): number[] {
  return [1].concat(
    ...codes.map(({ level, negative }) =>
      level === 0 ? omegaBits(1) : [...omegaBits(level + 1), Number(negative)],
    ),
  );
}

function sparseBits(codes: readonly Code[]): number[] {
  const bits = [0];
  let last = -1;
  codes.forEach(({ level, negative }, index) => {
    if (level === 0) return;
    bits.push(...omegaBits(index - last), Number(negative), ...omegaBits(level));
    last = index;
  });
  bits.push(...omegaBits(codes.length - last));
  return bits;
}

/** Error if the bits end or a code is impossible; caught within this file. */
class NoSuchCode extends Error {}

class BitReader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bit(): number {
    const byte = this.#bytes[this.position >> 3];
    if (byte === undefined) throw new NoSuchCode();
    return (byte >> (7 - (this.position++ & 7))) & 1;
  }

  omega(): number {
    let k = 1;
    while (this.bit() === 1) {
      const group = k;
      if (group >= 32) throw new NoSuchCode();
      k = 1;
      for (let i = 0; i < group; i++) k = 2 * k + this.bit();
    }
    return k;
  }
}

/** The codes and the bytes read; undefined if the bytes are not such a stream. */
export function readElias(
  bytes: Uint8Array,
  count: number,
  levels: number,
): { codes: Code[]; bytes: number } | undefined {
  const reader = new BitReader(bytes);
  try {
    const dense = reader.bit() === 1;
    const codes = (dense ? readDense : readSparse)(reader, count, levels);
    const used = 4 * Math.ceil(reader.position / 32);
    return used <= bytes.length ? { codes, bytes: used } : undefined;
  } catch (error) {
    if (error instanceof NoSuchCode) return undefined;
    throw error;
  }
}

function readDense(reader: BitReader, count: number, levels: number): Code[] {
  return Array.from({ length: count }, () => {
    const level = reader.omega() - 1;
    if (level > levels) throw new NoSuchCode();
    return { level, negative: level > 0 && reader.bit() === 1 };
  });
}

function readSparse(reader: BitReader, count: number, levels: number): Code[] {
  const codes = new Array<Code>(count).fill({ level: 0, negative: false });
  let index = -1;
  for (;;) {
    index += reader.omega();
    if (index === count) return codes;
    if (index > count) throw new NoSuchCode();
    const negative = reader.bit() === 1;
    const level = reader.omega();
    if (level > levels) throw new NoSuchCode();
    codes[index] = { level, negative };
  }
}
