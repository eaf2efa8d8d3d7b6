/** Payloads of sections by the CPU's kernels, written where they travel from. */
import type { Kernels } from '../../kernels/kernels.ts';
import type { StreamName } from '../../kernels/random.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import { assembleSections } from '../section-assembly.ts';
import { packedCodeBytes, partsOf, payloadCapacity } from '../section-layout.ts';
import {
  longestCoded,
  noiseOf,
  type CodedSection,
  type LevelCoding,
  type ReceivedSection,
  type Section,
  type SectionCoder,
  type SectionCoding,
} from '../sections.ts';

export interface CodingWork {
  readonly kernels: Kernels;
  /** Memory that lasts as long as the work. */
  region(bytes: number): Region;
}

export class ArenaSections implements SectionCoder<Vector> {
  readonly #kernels: Kernels;
  readonly #sections: readonly Section[];
  readonly #coding: SectionCoding;
  readonly #region: Region;
  /** Packed codes of a section on their way to a stream of Elias codes. */
  readonly #packed: Region | undefined;

  constructor(work: CodingWork, sections: readonly Section[], coding: SectionCoding) {
    this.#kernels = work.kernels;
    this.#sections = sections;
    this.#coding = coding;
    this.#region = work.region(payloadCapacity(sections, coding));
    if (coding.kind === 'levels' && coding.coding !== 'packed') {
      this.#packed = work.region(packedCodeBytes(longestCoded(sections), coding));
    }
  }

  encode(x: Vector, noise: StreamName): Region {
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

  #write(x: Vector, out: Region, section: number, noise: StreamName): number {
    const coding = this.#coding;
    if (coding.kind === 'host') return coding.encode(x, out);
    const { numbers, codes } = partsOf(out, x.length, coding);
    if (coding.kind === 'levels') {
      const own = noiseOf(noise, section);
      return 4 * numbers.length + this.#writeLevels(x, coding, own, numbers, codes);
    }
    this.#kernels.quantization.quantizeSigns(x, coding.bucket, numbers, codes);
    return 4 * numbers.length + packedCodeBytes(x.length, coding);
  }

  /** Bytes of the codes. */
  #writeLevels(
    x: Vector,
    coding: LevelCoding,
    noise: StreamName,
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

  #decode({ numbers, codes }: CodedSection, out: Vector, add: boolean): void {
    const coding = this.#coding;
    const { quantization } = this.#kernels;
    switch (coding.kind) {
      case 'levels':
        quantization.dequantize(out, coding, numbers, codes, add);
        break;
      case 'signs':
        quantization.dequantizeSigns(out, coding.bucket, numbers, codes, add);
        break;
      case 'host':
        throw new Error('internal: what the host codes comes as entries');
      default:
        coding satisfies never;
    }
  }
}
