/**
 * Payloads of sections by the CPU's kernels, written directly to the payload's memory.
 */
import type { Kernels } from '../../kernels/kernels.ts';
import type { RandomStream } from '../../kernels/random.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import { assembleSections } from '../section-assembly.ts';
import {
  codingOf,
  packedCodeBytes,
  partsOf,
  payloadCapacity,
} from '../section-layout.ts';
import {
  inColumnOrder,
  longestCoded,
  longestOfColumns,
  noiseOf,
  type CodedSection,
  type LevelCoding,
  type ReceivedSection,
  type Section,
  type SectionCoder,
  type SectionCoding,
  type SignCoding,
} from '../sections.ts';

export interface CodingWork {
  readonly kernels: Kernels;
  /** Allocates memory that lasts as long as the work. */
  region(bytes: number): Region;
}

export class ArenaSections implements SectionCoder<Vector> {
  readonly #kernels: Kernels;
  readonly #sections: readonly Section[];
  readonly #coding: SectionCoding;
  readonly #region: Region;
  /** Packed codes of a section before they become a stream of Elias codes. */
  readonly #packed: Region | undefined;
  /** A section in the order of its columns. */
  readonly #columnwise: Region;

  constructor(work: CodingWork, sections: readonly Section[], coding: SectionCoding) {
    this.#kernels = work.kernels;
    this.#sections = sections;
    this.#coding = coding;
    this.#region = work.region(payloadCapacity(sections, coding));
    if (coding.kind === 'levels' && coding.coding !== 'packed') {
      this.#packed = work.region(packedCodeBytes(longestCoded(sections), coding));
    }
    this.#columnwise = work.region(4 * longestOfColumns(sections));
  }

  encode(x: Vector, noise: RandomStream): Region {
    return assembleSections(
      this.#kernels,
      this.#sections,
      x,
      this.#region,
      (part, out, section) => this.#write(part, out, section, noise),
    );
  }

  decode(section: ReceivedSection, out: Vector, add: boolean): void {
    const kernels = this.#kernels;
    switch (section.kind) {
      case 'dense':
        kernels[add ? 'add' : 'copy'](out, section.values);
        break;
      case 'coded':
        this.#decode(section, out, add);
        break;
      case 'entries':
        if (!add) kernels.fill(out, 0);
        kernels.scatterAdd(out, section.stream, 1);
        break;
      default:
        section satisfies never;
    }
  }

  #write(x: Vector, out: Region, index: number, noise: RandomStream): number {
    const coding = this.#coding;
    const own = noiseOf(noise, index);
    if (coding.kind === 'host') return coding.encode(x, out, own);
    if (coding.kind === 'signs') {
      return this.#writeSigns(x, this.#sections[index]!, coding, out);
    }
    const { numbers, codes } = partsOf(out, x.length, coding);
    return 4 * numbers.length + this.#writeLevels(x, coding, own, numbers, codes);
  }

  #writeSigns(x: Vector, section: Section, shared: SignCoding, out: Region): number {
    const { quantization } = this.#kernels;
    const coding = codingOf(section, shared);
    const { numbers, codes } = partsOf(out, x.length, coding);
    const bytes = 4 * numbers.length + packedCodeBytes(x.length, coding);
    const { columns } = section;
    if (!inColumnOrder(columns)) {
      quantization.quantizeSigns(x, coding.runLength, numbers, codes);
      return bytes;
    }
    const rows = x.length / columns;
    const ordered = { offset: this.#columnwise.offset, length: x.length };
    this.#kernels.transpose({ offset: x.offset, rows, columns }, ordered, false);
    quantization.quantizeSigns(ordered, coding.runLength, numbers, codes);
    const { offset } = ordered;
    this.#kernels.transpose({ offset, rows: columns, columns: rows }, x, false);
    return bytes;
  }

  /** Bytes of the codes. */
  #writeLevels(
    x: Vector,
    coding: LevelCoding,
    noise: RandomStream,
    scales: Vector,
    codes: Region,
  ): number {
    const { quantization } = this.#kernels;
    const { levels, scale, coding: form } = coding;
    const packed = this.#packed ?? codes;
    if (typeof scale === 'object') {
      this.#kernels.fill(scales, quantization.clippedMaximum(x, scale.clip));
    }
    const kind = typeof scale === 'object' ? 'given' : scale;
    quantization.quantize(x, coding, kind, noise, scales, packed);
    return form === 'packed'
      ? packedCodeBytes(x.length, coding)
      : quantization.eliasEncode(packed, x.length, levels, form, codes);
  }

  #decode(section: CodedSection, out: Vector, add: boolean): void {
    const { numbers, codes } = section;
    const coding = this.#coding;
    const { quantization } = this.#kernels;
    switch (coding.kind) {
      case 'levels':
        quantization.dequantize(out, coding, numbers, codes, add);
        break;
      case 'signs':
        this.#decodeSigns(section, coding, out, add);
        break;
      case 'host':
        throw new Error('internal: what the host codes comes as values or entries');
      default:
        coding satisfies never;
    }
  }

  #decodeSigns(
    { numbers, codes, columns }: CodedSection,
    shared: SignCoding,
    out: Vector,
    add: boolean,
  ): void {
    const { quantization } = this.#kernels;
    const { length } = out;
    const { runLength } = codingOf({ length, columns }, shared);
    if (!inColumnOrder(columns)) {
      quantization.dequantizeSigns(out, runLength, numbers, codes, add);
      return;
    }
    const { offset } = this.#columnwise;
    quantization.dequantizeSigns({ offset, length }, runLength, numbers, codes, false);
    const ordered = { offset, rows: columns, columns: length / columns };
    this.#kernels.transpose(ordered, out, add);
  }
}
