/** The interface of a coding on a GPU for payloads of sections. */
import type { RandomStream } from '../../kernels/random.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { CodedSection } from '../sections.ts';

/** One section's elements, and the destination of its bytes. */
export interface SectionTask {
  readonly x: GpuVector;
  /** Number of the section. */
  readonly index: number;
  readonly noise: RandomStream;
  /** Columns, as of `Section`. */
  readonly columns?: number | undefined;
  readonly payload: GPUBuffer;
  /** First byte in the payload; zeros from here on, up to the section's capacity. */
  readonly offset: number;
}

export interface GpuSectionCodec {
  /** Work ahead of all sections that needs an answer from the device. */
  prepare?(tasks: readonly SectionTask[]): Promise<void>;
  /** Enqueues a section's bytes; reports after each part how many are complete. */
  write(task: SectionTask): Iterable<number>;
  /** Bytes of the sections just written, if they differ from their capacities. */
  sizes?(tasks: readonly SectionTask[]): Promise<readonly number[]>;
  /** Enqueues out ← out + values of the section, or its values alone. */
  decode(section: CodedSection, out: GpuVector, add: boolean): void;
}
