/** Watches what this machine does while a run goes on: reads it every second, and records it. */
import { UseRecords, type UseRecordsOptions } from './use-records.ts';
import { UseSamples } from './use-samples.ts';

export class UseWatch {
  readonly #records: UseRecords;
  readonly #samples: UseSamples;

  constructor(options: UseRecordsOptions) {
    const records = new UseRecords(options);
    this.#records = records;
    this.#samples = new UseSamples(options.processes, {
      read: (processors, reading) => {
        records.add(processors, reading);
      },
      gpu: (reading) => {
        records.addGpu(reading);
      },
    });
  }

  /** Records what it knows of the last interval. */
  close(): void {
    this.#samples.close();
    this.#records.close();
  }
}
