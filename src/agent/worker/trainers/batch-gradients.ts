/**
 * Gradients of batches, by one trainer. While the rank waits for others the next batch is loaded,
 * so that phase `data` has only what was not hidden under waiting.
 */
import type { ComputedStep, GradientMemory, Trainer } from '../../training/trainer.ts';

/** A batch's gradient, and its times in ms. */
export interface ComputedGradient {
  /** Wall-clock start time, ms since 1970. */
  readonly at: number;
  /** The same on the trainer thread's clock; absent if another thread computed it. */
  readonly began?: number | undefined;
  readonly step: ComputedStep;
  readonly data: number;
  readonly compute: number;
}

export class BatchGradients {
  readonly #trainer: Pick<Trainer, 'computeGradient' | 'loadBatch'>;
  #loaded: number | undefined;
  #soon: NodeJS.Immediate | undefined;

  constructor(trainer: Pick<Trainer, 'computeGradient' | 'loadBatch'>) {
    this.#trainer = trainer;
  }

  /** @param ready is told the first element that is ready, as the backward pass continues */
  async compute(
    iteration: number,
    into: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedGradient> {
    const at = Date.now();
    const start = performance.now();
    this.#load(iteration);
    const loaded = performance.now();
    const step = await this.#trainer.computeGradient(into, ready);
    const end = performance.now();
    return { at, began: start, step, data: loaded - start, compute: end - loaded };
  }

  /**
   * Loads a batch when the thread has nothing else to do: messages that can be sent at once have
   * left by then. The batch before is not needed any more.
   */
  loadSoon(iteration: number): void {
    this.#soon = setImmediate(() => {
      try {
        this.#trainer.loadBatch(iteration);
        this.#loaded = iteration;
      } catch {
        // `compute` meets the same error, where it is reported.
      }
    });
  }

  /** Returns when this iteration's batch is loaded. */
  #load(iteration: number): void {
    clearImmediate(this.#soon);
    const isLoaded = this.#loaded === iteration;
    this.#loaded = undefined;
    if (!isLoaded) this.#trainer.loadBatch(iteration);
  }
}
