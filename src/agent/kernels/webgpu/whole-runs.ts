/**
 * A vector as runs of consecutive elements, for kernels that need a whole run at once:
 * stretches of whole runs within one part, and runs that cross parts, which are copied
 * into one buffer, one at a time.
 */
import type { GpuDevice } from './gpu-device.ts';
import { sliceOf, windowsOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

/** Whole runs in one part; the first of them begins at element `first`. */
export interface RunStretch {
  readonly first: number;
  readonly part: BufferRange;
}

export class WholeRuns implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #together: GPUBuffer;

  /** Allocates memory for runs of up to `longest` elements. */
  constructor(gpu: GpuDevice, longest: number) {
    this.#gpu = gpu;
    this.#together = gpu.allocate(4 * longest);
  }

  /**
   * The runs of x, whose length is a multiple of `run`, ascending. A stretch is
   * read-only and valid until the next is requested.
   */
  *of(x: GpuVector, run: number): Generator<RunStretch> {
    let done = 0;
    for (const { first, length, parts } of windowsOf([x])) {
      const end = first + length;
      if (done >= end) continue;
      const inside = Math.floor((end - done) / run) * run;
      if (inside > 0) {
        const [part] = parts;
        const offset = part.offset + 4 * (done - first);
        yield { first: done, part: { ...part, offset, length: inside } };
        done += inside;
      }
      if (done < end) {
        yield { first: done, part: this.#gather(sliceOf(x, done, run)) };
        done += run;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#together);
  }

  #gather(x: GpuVector): BufferRange {
    const { commands } = this.#gpu;
    for (const { first, parts } of windowsOf([x])) {
      commands.copy(parts[0], this.#together, 4 * first);
    }
    return { buffer: this.#together, offset: 0, length: x.length };
  }
}
