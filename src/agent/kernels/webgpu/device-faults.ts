/**
 * The first thing that goes wrong on a WebGPU device. Nothing throws it by itself: a
 * command that fails leaves zeros to be read, and what waits for a device that is lost ends
 * with an error that does not say so. Whoever reads results asks here.
 */
import { failure } from '../../../shared/errors/errors.ts';

/** Time in which a device that is lost says so after what waited for it has failed. */
const LOSS_MS = 200;

export class DeviceFaults {
  readonly #device: GPUDevice;
  readonly #name: string;
  /** Resolves once the device is lost. */
  readonly #lost: Promise<void>;
  #fault: Error | undefined;
  #closed = false;

  /** @param name of the GPU, as errors show it */
  constructor(device: GPUDevice, name: string) {
    this.#device = device;
    this.#name = name;
    device.addEventListener('uncapturederror', this.#onError);
    this.#lost = device.lost.then(({ message }) => {
      if (this.#closed) return;
      this.#fault ??= failure('GPU_LOST', `the GPU is lost: ${message}`, {
        place: name,
        next: 'Look for driver errors in the system log, or use "backend: wasm", which needs no GPU.',
      });
    });
  }

  /** @throws GradwireError `GPU_LOST`, `GPU_MEMORY`; an internal error for any other fault */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Results of the device, if nothing has gone wrong by the time they are there.
   * @throws as `check`, rather than what the results fail with
   */
  async watch<T>(results: () => T | Promise<T>): Promise<T> {
    let value: T;
    try {
      value = await results();
    } catch (error) {
      await this.#awaitLoss();
      this.check();
      throw error;
    }
    this.check();
    return value;
  }

  /** Ends it: the owner may destroy the device. */
  close(): void {
    this.#closed = true;
    this.#device.removeEventListener('uncapturederror', this.#onError);
  }

  /** Waits for the news of a loss, in case there are any. */
  async #awaitLoss(): Promise<void> {
    if (this.#fault !== undefined || this.#closed) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOSS_MS);
    });
    await Promise.race([this.#lost, late]);
    clearTimeout(timer);
  }

  readonly #onError = ({ error }: GPUUncapturedErrorEvent): void => {
    // The first names the cause: use of a buffer that has no memory fails as well.
    this.#fault ??= isOutOfMemory(error)
      ? failure('GPU_MEMORY', `the GPU has no memory left: ${error.message}`, {
          place: this.#name,
          next: 'Lower workload.batchPerRank, use smaller buckets or a smaller model, or use "backend: wasm".',
        })
      : new Error(`internal: WebGPU: ${error.message}`);
  };
}

/** Whether memory ran out, by the name of the class: only Dawn's own globals have it. */
const isOutOfMemory = (error: GPUError): boolean =>
  error.constructor.name === 'GPUOutOfMemoryError';
