/**
 * Payloads of sections from a GPU by a coding without kernels there: the vector is read
 * back in one round trip, and the host does the rest.
 */
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { RandomStream } from '../../kernels/random.ts';
import type { Region } from '../../memory/arena.ts';
import { assembleSections } from '../section-assembly.ts';
import { payloadCapacity } from '../section-layout.ts';
import {
  noiseOf,
  type HostCoding,
  type ReceivedSection,
  type Section,
  type SectionCoder,
} from '../sections.ts';
import type { Mirror } from '../work.ts';
import type { GpuTools } from './gpu-tools.ts';
import { GpuReceivedSections } from './gpu-received-sections.ts';

export class GpuHostSections implements SectionCoder<GpuVector> {
  readonly #work: GpuTools;
  readonly #sections: readonly Section[];
  readonly #coding: HostCoding;
  readonly #received: GpuReceivedSections;
  readonly #region: Region;
  readonly #mirror: Mirror<GpuVector>;

  constructor(work: GpuTools, sections: readonly Section[], coding: HostCoding) {
    this.#work = work;
    this.#sections = sections;
    this.#coding = coding;
    this.#received = new GpuReceivedSections(
      work,
      coding.gives === 'values' ? sections : sections.filter(({ dense }) => dense),
    );
    this.#region = work.region(payloadCapacity(sections, coding));
    this.#mirror = work.mirror(sections.reduce((sum, { length }) => sum + length, 0));
  }

  async encode(x: GpuVector, noise: RandomStream): Promise<Region> {
    const copy = await this.#mirror.of(x);
    const { kernels } = this.#work;
    return assembleSections(
      kernels,
      this.#sections,
      copy,
      this.#region,
      (part, out, section) => this.#coding.encode(part, out, noiseOf(noise, section)),
    );
  }

  decode(section: ReceivedSection, out: GpuVector, add: boolean): void {
    if (section.kind === 'coded') {
      throw new Error('internal: what the host codes comes as values or entries');
    }
    this.#received.decode(section, out, add);
  }
}
