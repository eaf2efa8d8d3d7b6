/**
 * Records of a machine, made of its samples: one at the end of each interval. Intervals grow with the
 * age of the run, so that a run of any length has some thousand records.
 */
import { octave } from '../../../shared/numbers/portable-math.ts';
import type { UtilisationRecord } from '../../../shared/records/utilisation.ts';
import type { GpuReading } from './gpu-readings.ts';
import { UseInterval, type UseReading } from './use-interval.ts';
import { READ_MS } from './use-samples.ts';

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

export interface UseRecordsOptions {
  /** The machine's name in records. */
  readonly node: string;
  /** Begin of the run, ms since 1970. */
  readonly begun: number;
  /** The processes of its ranks on that machine, by rank. */
  readonly processes: ReadonlyMap<number, number>;
  /** The iteration under way. */
  readonly iteration: () => number;
  readonly told: (record: UtilisationRecord) => void;
}

export class UseRecords {
  readonly #options: UseRecordsOptions;
  readonly #ranks: readonly number[];
  #interval: UseInterval | undefined;
  /** The iteration under way when the interval began. */
  #from = 0;
  /** Readings until the interval ends. */
  #left = 0;

  constructor(options: UseRecordsOptions) {
    this.#options = options;
    this.#ranks = [...options.processes.keys()];
  }

  /** @param processors that may be used there */
  add(processors: number, reading: UseReading): void {
    const interval = this.#interval;
    if (interval === undefined) {
      this.#from = this.#options.iteration();
      this.#open(processors, reading);
      return;
    }
    // Its process may have been suspended, and its timers be late.
    if (reading.at - interval.last.at < LEAST_MS) return;
    interval.add(reading);
    this.#left--;
    if (this.#left > 0) return;
    this.#tell(interval);
    this.#open(processors, reading);
  }

  addGpu(reading: GpuReading): void {
    this.#interval?.addGpu(reading);
  }

  /** Records what is known of the last interval. */
  close(): void {
    const interval = this.#interval;
    this.#interval = undefined;
    if (interval !== undefined && interval.wall >= LEAST_MS) this.#tell(interval);
  }

  #open(processors: number, first: UseReading): void {
    this.#interval = new UseInterval(processors, first);
    this.#left = readingsAt(Date.now() - this.#options.begun);
  }

  #tell(interval: UseInterval): void {
    const { iteration, node, told } = this.#options;
    const from = this.#from;
    this.#from = iteration();
    told({
      type: 'utilisation',
      at: Date.now(),
      node,
      from,
      to: Math.max(from + 1, this.#from),
      ...interval.measured(this.#ranks),
    });
  }
}
