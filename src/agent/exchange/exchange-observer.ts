/**
 * Observations after an exchange: of single buckets where a spec asks for them, of the residual,
 * and the sums of buckets at the end of their intervals.
 */
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { BucketInterval } from './bucket-sums.ts';
import type { ExchangeResult } from './exchange-calls.ts';
import type { PlanExecution } from './plan-execution.ts';
import type { ResidualUpkeep } from './residual-upkeep.ts';

interface Observed {
  readonly clock: PhaseClock;
  readonly upkeep: ResidualUpkeep;
  /** The execution of the current plan. */
  readonly execution: () => PlanExecution;
}

type Observations = Pick<ExchangeResult, 'buckets' | 'residualNorm'>;

export class ExchangeObserver {
  readonly #observed: Observed;
  /** Intervals that a fence has ended. */
  #ended: BucketInterval[] = [];

  constructor(observed: Observed) {
    this.#observed = observed;
  }

  /** Whether there is something to observe after this iteration's exchange. */
  isDue(iteration: number, inspects: boolean): boolean {
    const { execution, upkeep } = this.#observed;
    return inspects || upkeep.isNormDue(iteration) || execution().sums.isDue;
  }

  /** Measures what is due; some of it needs a pass over the residual. */
  async observe(iteration: number, inspects: boolean): Promise<Observations> {
    const { clock, execution, upkeep } = this.#observed;
    const { sums } = execution();
    const residualNorm = upkeep.isNormDue(iteration) ? await upkeep.norm() : undefined;
    const buckets = inspects
      ? await clock.follow('compress', () => execution().observe())
      : undefined;
    if (sums.isDue) await sums.measure();
    return { residualNorm, buckets };
  }

  /** Intervals that have ended. Called once the clock has ended the exchange. */
  intervals(): Pick<ExchangeResult, 'intervals'> {
    return this.#observed.execution().sums.isDue ? { intervals: this.take() } : {};
  }

  /** The current plan ends. */
  leave(): void {
    const interval = this.#observed.execution().sums.close();
    if (interval !== undefined) this.#ended.push(interval);
  }

  /** Ends the current interval, and takes all that no exchange has returned. */
  take(): readonly BucketInterval[] {
    this.leave();
    return this.#ended.splice(0);
  }
}
