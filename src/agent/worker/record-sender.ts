/**
 * Batches a worker's records to its supervisor: it sends a message when 256 have
 * gathered or 50 ms after the first, so that the stream stays live at little cost to
 * the trainer.
 */
import type { FromWorker } from '../../shared/protocol/worker.ts';
import type { RunRecord } from '../../shared/records.ts';

const BATCH = 256;
const DELAY_MS = 50;

export class RecordSender {
  #records: RunRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #send: (message: FromWorker) => void;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  push(record: RunRecord): void {
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
    this.#send({ type: 'records', records: this.#records });
    this.#records = [];
  }
}
