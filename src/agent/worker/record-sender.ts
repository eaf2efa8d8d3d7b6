/**
 * Batches a worker's records to its supervisor: it sends a message when 256 have
 * gathered or 50 ms after the first, so that the stream stays live at little cost to
 * the trainer. A record may be made only then, which is mostly while the rank waits for
 * others: several in a row take a fraction of the time of one between two iterations.
 */
import type { FromWorker } from '../../shared/protocol/worker.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';

const BATCH = 256;
const DELAY_MS = 50;

/** A record, or a function that makes it from values that no longer change. */
export type Report = RunRecord | (() => RunRecord);

export class RecordSender {
  #records: Report[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #send: (message: FromWorker) => void;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  push(record: Report): void {
    this.#records.push(record);
    if (this.#records.length >= BATCH) this.flush();
    else
      this.#timer ??= setTimeout(() => {
        this.flush();
      }, DELAY_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#records.length === 0) return;
    const records = this.#records.map((record) =>
      typeof record === 'function' ? record() : record,
    );
    this.#records = [];
    this.#send({ type: 'records', records });
  }
}
