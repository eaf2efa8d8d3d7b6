/**
 * One stream of commands to a device: dispatches, copies and writes take effect in the
 * order of the calls. Commands collect until something needs them submitted (`flush`, a
 * write, a read), so that a chain of kernels is one submission.
 *
 * Parameters of dispatches are in slots of one uniform buffer, written together before
 * the submission that reads them. When all slots are used, the commands are flushed.
 */
import type { BufferRange } from './gpu-vector.ts';
import type { KernelSource } from '../wgsl/kernel-source.ts';
import { fieldsOf, SLOT_WORDS, type PipelineCache } from './pipeline-cache.ts';

const SLOTS = 256;
const SLOT_BYTES = 4 * SLOT_WORDS;
/** Bytes whose multiples a binding may begin at on every device: WebGPU's default limit. */
const ALIGNMENT = 256;

export class CommandStream {
  readonly #device: GPUDevice;
  readonly #pipelines: PipelineCache;
  readonly #mostWorkgroups: number;
  readonly #uniforms: GPUBuffer;
  readonly #slots = new Uint32Array(SLOTS * SLOT_WORDS);
  #used = 0;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;

  constructor(device: GPUDevice, pipelines: PipelineCache) {
    this.#device = device;
    this.#pipelines = pipelines;
    this.#mostWorkgroups = device.limits.maxComputeWorkgroupsPerDimension;
    this.#uniforms = device.createBuffer({
      label: 'parameters',
      size: SLOTS * SLOT_BYTES,
      usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
  }

  /**
   * Runs a kernel in this many workgroups; does nothing for 0.
   * @throws an internal error if there are more than a dispatch takes, which WebGPU would
   * not run
   */
  dispatch<P extends string, B extends string>(
    kernel: KernelSource<P, B>,
    workgroups: number,
    bindings: Readonly<Record<B, BufferRange>>,
    parameters: Readonly<Record<P, number>>,
  ): void {
    if (workgroups === 0) return;
    if (workgroups > this.#mostWorkgroups) {
      throw new Error(`internal: ${workgroups} workgroups of "${kernel.name}"`);
    }
    if (this.#used === SLOTS) this.flush();
    const source = kernel as KernelSource;
    const { pipeline, layout } = this.#pipelines.get(source);
    const slot = this.#used++;
    const parts = Object.keys(kernel.bindings).map((name) => bindings[name as B]);
    const values: Record<string, number> = { ...parameters, zero: 0 };
    Object.keys(kernel.bindings).forEach((name, index) => {
      values[`${name}At`] = (parts[index]!.offset % ALIGNMENT) / 4;
    });
    fieldsOf(source).forEach((field, index) => {
      this.#slots[slot * SLOT_WORDS + index] = values[field]!;
    });
    const group = this.#device.createBindGroup({
      layout,
      entries: [
        {
          binding: 0,
          resource: { buffer: this.#uniforms, offset: 0, size: SLOT_BYTES },
        },
        ...parts.map(({ buffer, offset, length }, index) => {
          const skipped = offset % ALIGNMENT;
          const size = skipped + 4 * length;
          return {
            binding: index + 1,
            resource: { buffer, offset: offset - skipped, size },
          };
        }),
      ],
    });
    const pass = this.#openPass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group, [slot * SLOT_BYTES]);
    pass.dispatchWorkgroups(workgroups);
  }

  /** Copies between different buffers; offsets and bytes are multiples of 4. */
  copy(from: BufferRange, to: GPUBuffer, toOffset: number): void {
    if (from.length === 0) return;
    const { buffer, offset, length } = from;
    this.#openEncoder().copyBufferToBuffer(buffer, offset, to, toOffset, 4 * length);
  }

  /** Writes zeros. */
  clear({ buffer, offset, length }: BufferRange): void {
    if (length > 0) this.#openEncoder().clearBuffer(buffer, offset, 4 * length);
  }

  /** Writes from host memory, which may change as soon as this returns. */
  write(buffer: GPUBuffer, offset: number, data: Float32Array | Uint32Array): void {
    this.flush();
    if (data.length > 0) {
      this.#device.queue.writeBuffer(
        buffer,
        offset,
        data as GPUAllowSharedBufferSource,
      );
    }
  }

  /** Marks a time on the device, if it has `timestamp-query`. */
  stamp(querySet: GPUQuerySet, index: number): void {
    const timed = { querySet, beginningOfPassWriteIndex: index };
    this.#openEncoder().beginComputePass({ timestampWrites: timed }).end();
  }

  /** Nanoseconds of the stamps, as u64, into a buffer of QUERY_RESOLVE. */
  resolve(querySet: GPUQuerySet, count: number, into: GPUBuffer): void {
    this.#openEncoder().resolveQuerySet(querySet, 0, count, into, 0);
  }

  /** Submits the collected commands, if any. */
  flush(): void {
    const encoder = this.#encoder;
    if (encoder === undefined) return;
    this.#pass?.end();
    if (this.#used > 0) {
      const { queue } = this.#device;
      queue.writeBuffer(this.#uniforms, 0, this.#slots, 0, this.#used * SLOT_WORDS);
    }
    this.#device.queue.submit([encoder.finish()]);
    this.#encoder = undefined;
    this.#pass = undefined;
    this.#used = 0;
  }

  close(): void {
    this.#uniforms.destroy();
  }

  #openPass(): GPUComputePassEncoder {
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    return this.#pass;
  }

  /** Returns the encoder, and ends the pass in progress, if any. */
  #openEncoder(): GPUCommandEncoder {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.#device.createCommandEncoder();
    return this.#encoder;
  }
}
