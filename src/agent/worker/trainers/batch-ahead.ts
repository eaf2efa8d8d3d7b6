/**
 * Loads the batches of one trainer. While the rank waits for others it loads the next one, so that
 * phase `data` has only what was not hidden under waiting.
 */
import type { Trainer } from '../../training/trainer.ts';

export class BatchAhead {
  readonly #trainer: Pick<Trainer, 'loadBatch'>;
  #loaded: number | undefined;
  #soon: NodeJS.Immediate | undefined;

  constructor(trainer: Pick<Trainer, 'loadBatch'>) {
    this.#trainer = trainer;
  }

  /** Returns when this iteration's batch is loaded. */
  loadBatch(iteration: number): void {
    clearImmediate(this.#soon);
    const isLoaded = this.#loaded === iteration;
    this.#loaded = undefined;
    if (!isLoaded) this.#trainer.loadBatch(iteration);
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
        // `loadBatch` meets the same error, where it is reported.
      }
    });
  }
}
