/**
 * A ring of staging buffers for all reads from the GPU. A read is cut into chunks; a
 * chunk takes a free buffer, is copied into it after the commands given so far, and is
 * read out once the device has reached that point. Meanwhile other chunks are in flight
 * and the device executes later commands, so reading overlaps with computing. If all
 * buffers are taken, a read waits for the oldest.
 *
 *     commands  ── compute 0 ── copy 0 ── compute 1 ── copy 1 ── …
 *     buffers        [0: mapped, being taken out] [1: copied into] [2: free] [3: free]
 */
import type { CommandStream } from './command-stream.ts';
import type { DeviceFaults } from './device-faults.ts';

const BUFFERS = 4;
const CHUNK_BYTES = 2 ** 22;

export class StagingRing {
  readonly #commands: CommandStream;
  readonly #faults: DeviceFaults;
  readonly #buffers: readonly GPUBuffer[];
  /** Free buffers. */
  readonly #free: GPUBuffer[];
  /** Reads that wait for a buffer, in their order. */
  readonly #waiting: ((buffer: GPUBuffer) => void)[] = [];

  constructor(device: GPUDevice, commands: CommandStream, faults: DeviceFaults) {
    this.#commands = commands;
    this.#faults = faults;
    this.#buffers = Array.from({ length: BUFFERS }, (_, index) =>
      device.createBuffer({
        label: `staging ${index}`,
        size: CHUNK_BYTES,
        usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
      }),
    );
    this.#free = [...this.#buffers];
  }

  /**
   * The bytes of a buffer, from `offset` on, as the commands so far leave them; as many as
   * `into` holds. They must not change until it has ended. Offset and length are
   * multiples of 4.
   * @throws what has gone wrong on the device
   */
  async read(buffer: GPUBuffer, offset: number, into: Uint8Array): Promise<void> {
    const chunks: Promise<void>[] = [];
    for (let at = 0; at < into.length; at += CHUNK_BYTES) {
      const part = into.subarray(at, at + CHUNK_BYTES);
      const staging = this.#free.pop() ?? (await this.#next());
      const words = { buffer, offset: offset + at, length: part.length / 4 };
      this.#commands.copy(words, staging, 0);
      this.#commands.flush();
      const chunk = this.#take(staging, part);
      // It may fail while another read waits for a buffer; the error is thrown below.
      chunk.catch(() => undefined);
      chunks.push(chunk);
    }
    await Promise.all(chunks);
  }

  /**
   * The starts of two buffers, one after the other in `into`: in a single mapping if they fit
   * into a buffer of the ring.
   * @param first bytes of the first
   * @throws what has gone wrong on the device
   */
  async readBoth(
    [one, other]: readonly [GPUBuffer, GPUBuffer],
    first: number,
    into: Uint8Array,
  ): Promise<void> {
    if (into.length > CHUNK_BYTES) {
      const reads = [
        this.read(one, 0, into.subarray(0, first)),
        this.read(other, 0, into.subarray(first)),
      ];
      await Promise.all(reads);
      return;
    }
    if (into.length === 0) return;
    const staging = this.#free.pop() ?? (await this.#next());
    const rest = (into.length - first) / 4;
    this.#commands.copy({ buffer: one, offset: 0, length: first / 4 }, staging, 0);
    this.#commands.copy({ buffer: other, offset: 0, length: rest }, staging, first);
    this.#commands.flush();
    await this.#take(staging, into);
  }

  close(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  async #take(staging: GPUBuffer, into: Uint8Array): Promise<void> {
    try {
      await this.#faults.watch(async () => {
        await staging.mapAsync(GPUMapMode.READ, 0, into.length);
        into.set(new Uint8Array(staging.getMappedRange(0, into.length)));
        staging.unmap();
      });
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(staging);
      else next(staging);
    }
  }

  #next(): Promise<GPUBuffer> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
