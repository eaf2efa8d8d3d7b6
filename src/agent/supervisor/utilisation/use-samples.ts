/** Samples of this machine, once a second, with the ranks that run on it. */
import { GpuReadings, type GpuReading } from './gpu-readings.ts';
import { MachineReader } from './machine-reader.ts';
import { RankFamilies } from './rank-families.ts';
import type { UseReading } from './use-interval.ts';

export const READ_MS = 1000;

export interface SampleListener {
  /** @param processors that may be used */
  readonly read: (processors: number, reading: UseReading) => void;
  readonly gpu: (reading: GpuReading) => void;
}

export class UseSamples {
  readonly #machine = new MachineReader();
  readonly #families: RankFamilies;
  readonly #gpus: GpuReadings;
  readonly #timer: NodeJS.Timeout;

  /**
   * Reads once at once.
   * @param processes of ranks on this machine, by rank
   */
  constructor(processes: ReadonlyMap<number, number>, { gpu, read }: SampleListener) {
    this.#families = new RankFamilies(processes);
    const look = (): void => {
      read(this.#machine.processors, this.#read());
    };
    look();
    this.#gpus = new GpuReadings(gpu);
    this.#timer = setInterval(look, READ_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#gpus.close();
  }

  #read(): UseReading {
    const { system, user } = process.cpuUsage();
    return {
      at: performance.now(),
      machine: this.#machine.read(),
      ranks: this.#families.read(),
      own: (system + user) / 1000,
    };
  }
}
