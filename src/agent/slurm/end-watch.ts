/** Tells that an allocation is about to end, in time for the ranks to leave it. */
import { environmentSeconds } from './environment-seconds.ts';
import type { JobStatus } from './slurm-client.ts';

/** Time before the end of its allocation at which a run ends: this, or a tenth of the time. */
const LONGEST_LEAD_MS = 60_000;
const LEAD_SHARE = 0.1;
/** Node's timers are limited to 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class EndWatch {
  readonly #ending: (end: number) => void;
  /** Seconds before its end at which the allocation is left; set by tests. */
  readonly #leadSeconds = environmentSeconds('GRADWIRE_SLURM_LEAD_SECONDS');
  #timer: NodeJS.Timeout | undefined;
  #end: number | undefined;

  /** @param ending called once for each end that comes near; ms since 1970 */
  constructor(ending: (end: number) => void) {
    this.#ending = ending;
  }

  /** The job runs. Its end may change meanwhile. */
  runs({ start, end }: Pick<JobStatus, 'start' | 'end'>): void {
    if (end === this.#end) return;
    this.stop();
    this.#end = end;
    if (end === undefined || start === undefined) return;
    const lead =
      this.#leadSeconds === undefined
        ? Math.min(LONGEST_LEAD_MS, (end - start) * LEAD_SHARE)
        : this.#leadSeconds * 1000;
    const left = end - lead - Date.now();
    if (left > LONGEST_TIMER_MS) {
      this.#end = undefined; // To be looked at again.
      return;
    }
    this.#timer = setTimeout(
      () => {
        this.#ending(end);
      },
      Math.max(0, left),
    );
  }

  /** The job does not run now: a suspended one has its end later than Slurm said before. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#end = undefined;
  }
}
