/**
 * The records of one iteration, as they are stored, and then those of the iterations around it: one
 * request at a time, and the iteration that was wanted last.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { MOST_ITERATION_RECORDS } from '../../../shared/rpc/run-pieces.ts';
import { StoredRun } from '../history/stored-run.ts';
import type { Connection } from '../host/host-connection.ts';

/** Iterations before it and after it that it is compared with: as many as one answer has. */
const AROUND = 50;
const LEAST_AROUND = 3;

interface Read {
  readonly iteration: number;
  /** Records of all ranks that have one, ascending. */
  readonly records: readonly IterationRecord[];
  /** Records of the iterations around it; undefined until they are read. */
  readonly around?: readonly IterationRecord[] | undefined;
}

interface Wanted {
  readonly iteration: number;
  /** Ranks of the run. */
  readonly ranks: number;
  /** Records of it that there must be before the iterations around it are read. */
  readonly awaited: number;
}

export class PinnedIteration {
  readonly #stored: StoredRun;
  #read = $state.raw<Read>();
  #error = $state.raw<ErrorData>();
  /** The one that was wanted last, until it is read. */
  #wanted: Wanted | undefined;
  /** The last one that was wanted, read or not. */
  #last: Wanted | undefined;
  readonly #reading = new OneAtATime(() => this.#readWanted());
  readonly #stop: () => void;

  constructor(connection: Connection, run: string) {
    this.#stored = new StoredRun(connection.api, run);
    this.#stop = connection.on('resync', () => {
      // Nothing else has the iterations of an ended run read again.
      if (this.#error !== undefined && this.#last !== undefined)
        void this.want(this.#last);
    });
  }

  /** The iteration that was read last. */
  get read(): Read | undefined {
    return this.#read;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Reads an iteration. */
  want(wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    this.#last = wanted;
    return this.#reading.run();
  }

  close(): void {
    this.#reading.close();
    // What is being read is no longer of use.
    this.#wanted = this.#last;
    this.#stop();
    this.#stored.close();
  }

  async #readWanted(): Promise<void> {
    const { awaited, iteration, ranks } = this.#wanted!;
    this.#wanted = undefined;
    try {
      const records = await this.#stored.part({ from: iteration, to: iteration + 1 });
      if (this.#isStale) return;
      const around =
        this.#read?.iteration === iteration ? this.#read.around : undefined;
      const read = { iteration, records: records.toSorted((a, b) => a.rank - b.rank) };
      this.#read = { ...read, around };
      this.#error = undefined;
      if (around !== undefined || records.length < awaited) return;
      const most = Math.floor((MOST_ITERATION_RECORDS / Math.max(1, ranks) - 1) / 2);
      const far = Math.max(LEAST_AROUND, Math.min(AROUND, most));
      const others = await this.#stored.part({
        from: Math.max(0, iteration - far),
        to: iteration + far + 1,
      });
      if (!this.#isStale) this.#read = { ...read, around: others };
    } catch (error) {
      this.#error = toErrorData(error);
    }
  }

  /** Whether another iteration is wanted by now, or it is closed. */
  get #isStale(): boolean {
    return this.#wanted !== undefined;
  }
}
