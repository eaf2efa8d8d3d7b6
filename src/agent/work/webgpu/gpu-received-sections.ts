/** Received sections of plain values, which need no coding, on a GPU. */
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { CodedSection, ReceivedSection, Section } from '../sections.ts';
import type { GpuTools } from './gpu-tools.ts';

export class GpuReceivedSections {
  readonly #work: GpuTools;
  /** Incoming values of a section. */
  readonly #values: GpuVector;

  /** @param dense the sections that arrive as values */
  constructor(work: GpuTools, dense: readonly Section[]) {
    this.#work = work;
    this.#values = work.vector(
      dense.reduce((longest, { length }) => Math.max(longest, length), 0),
    );
  }

  /** Enqueues out ← out + values of the section, or its values alone. */
  decode(
    section: Exclude<ReceivedSection, CodedSection>,
    out: GpuVector,
    add: boolean,
  ): void {
    const { arena, device } = this.#work;
    if (section.kind === 'entries') {
      if (!add) this.#work.clear(out);
      this.#work.scatterAdd(out, section.stream, 1);
      return;
    }
    const values = arena.f32(section.values);
    const to = add ? sliceOf(this.#values, 0, values.length) : out;
    device.gpu.write(to, values);
    if (add) device.elementwise.add(out, to);
  }
}
