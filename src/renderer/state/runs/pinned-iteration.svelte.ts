/**
 * The records of one iteration, as they are stored: one request at a time, and the iteration
 * that was wanted last.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { StoredRun } from '../history/stored-run.ts';
import type { Connection } from '../host/connection.ts';

interface Read {
  readonly iteration: number;
  /** Records of all ranks that have one, ascending. */
  readonly records: readonly IterationRecord[];
}

export class PinnedIteration {
  readonly #stored: StoredRun;
  #read = $state.raw<Read>();
  #error = $state.raw<ErrorData>();
  #wanted: number | undefined;
  #isReading = false;
  #closed = false;

  constructor({ api }: Connection, run: string) {
    this.#stored = new StoredRun(api, run);
  }

  /** The iteration that was read last. */
  get read(): Read | undefined {
    return this.#read;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Reads an iteration. */
  async want(iteration: number): Promise<void> {
    this.#wanted = iteration;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#wanted !== undefined && !this.#closed) {
      const next: number = this.#wanted;
      this.#wanted = undefined;
      await this.#readOne(next);
    }
    this.#isReading = false;
  }

  close(): void {
    this.#closed = true;
    this.#stored.close();
  }

  async #readOne(iteration: number): Promise<void> {
    try {
      const records = await this.#stored.iteration(iteration);
      if (this.#closed || this.#wanted !== undefined) return;
      this.#read = {
        iteration,
        records: records.toSorted((a, b) => a.rank - b.rank),
      };
      this.#error = undefined;
    } catch (error) {
      this.#error = toErrorData(error);
    }
  }
}
