/**
 * Watches what this machine does while a run goes on: reads it every second, and records it at the
 * end of each interval. Intervals grow with the age of the run, so that a run of any length has some
 * thousand records.
 */
import { octave } from '../../../shared/numbers/portable-math.ts';
import type { UtilisationRecord } from '../../../shared/records/utilisation.ts';
import { GpuReadings } from './gpu-readings.ts';
import { MachineReader } from './machine-reader.ts';
import { RankFamilies } from './rank-families.ts';
import { UseInterval, type UseReading } from './use-interval.ts';

const READ_MS = 1000;
/** Records with each length of interval. */
const RECORDS = 160;
/** The shortest interval that is recorded: clocks of processes tick every 10 ms. */
const LEAST_MS = 100;

/** Most readings of an interval: more than an hour. */
const MOST_READINGS = 4096;

/** Readings of an interval that begins at this age of the run, in milliseconds: a power of two. */
export function readingsAt(age: number): number {
  const doublings = octave(Math.max(0, age) / (RECORDS * READ_MS) + 1);
  return Math.min(MOST_READINGS, 2 ** doublings);
}

export interface UseWatchOptions {
  /** The machine's name in records. */
  readonly node: string;
  /** Begin of the run, ms since 1970. */
  readonly begun: number;
  /** The processes of its ranks, by rank. */
  readonly processes: ReadonlyMap<number, number>;
  /** The iteration under way. */
  readonly iteration: () => number;
  readonly told: (record: UtilisationRecord) => void;
}

export class UseWatch {
  readonly #options: UseWatchOptions;
  readonly #machine = new MachineReader();
  readonly #families: RankFamilies;
  readonly #gpus: GpuReadings;
  readonly #timer: NodeJS.Timeout;
  #interval: UseInterval;
  /** The iteration under way when the interval began. */
  #from: number;
  /** Readings until the interval ends. */
  #left: number;

  constructor(options: UseWatchOptions) {
    this.#options = options;
    this.#families = new RankFamilies(options.processes);
    this.#interval = new UseInterval(this.#machine.processors, this.#read());
    this.#from = options.iteration();
    this.#left = this.#readings();
    this.#gpus = new GpuReadings((reading) => {
      this.#interval.addGpu(reading);
    });
    this.#timer = setInterval(() => {
      this.#look();
    }, READ_MS);
    this.#timer.unref();
  }

  /** Records what it knows of the last interval. */
  close(): void {
    clearInterval(this.#timer);
    this.#gpus.close();
    if (this.#interval.wall >= LEAST_MS) this.#tell();
  }

  #look(): void {
    const reading = this.#read();
    // This process may have been suspended, and its timers be late.
    if (reading.at - this.#interval.last.at < LEAST_MS) return;
    this.#interval.add(reading);
    this.#left--;
    if (this.#left > 0) return;
    this.#tell();
    this.#interval = new UseInterval(this.#machine.processors, reading);
    this.#left = this.#readings();
  }

  #tell(): void {
    const { iteration, node, told } = this.#options;
    const from = this.#from;
    this.#from = iteration();
    told({
      type: 'utilisation',
      at: Date.now(),
      node,
      from,
      to: Math.max(from + 1, this.#from),
      ...this.#interval.measured(this.#families.ranks),
    });
  }

  #readings(): number {
    return readingsAt(Date.now() - this.#options.begun);
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
