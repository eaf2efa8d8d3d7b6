/**
 * Decides which switch takes effect at which iteration (the fence). Every rank holds
 * the same switches in the same order; in each iteration the ranks agree in band on the
 * newest epoch that all of them know (the minimum). A switch takes effect at the first
 * iteration that it allows and at which it is agreed: a pure function of what all ranks
 * share, so no rank can pass a fence alone.
 * Upholds invariant I1 (docs/architecture.md).
 */
import type { ExchangePlan, PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import { settledPlan } from './settled-plan.ts';

/** Plain data, the same on all ranks. */
export interface SavedSchedule {
  readonly plan: ExchangePlan;
  readonly epoch: number;
  /** Epochs that have taken effect, with their iterations. */
  readonly fences: readonly (readonly [epoch: number, iteration: number])[];
}

export class PlanSchedule {
  /** Known switches by epoch − 1. */
  readonly #known: (PlanSwitch | undefined)[] = [];
  /** Iterations of the switches that have taken effect, by epoch. */
  readonly #fences = new Map<number, number>();
  #agreed: number;
  #epoch = 0;
  #plan: ExchangePlan;

  /** `launched`: switches that came with the launch, known to every rank. */
  constructor(plan: ExchangePlan, launched: readonly PlanSwitch[] = []) {
    this.#plan = plan;
    for (const planSwitch of launched) this.learn(planSwitch);
    this.#agreed = this.knownEpoch;
  }

  /** The state of this schedule, for a process that resumes. */
  save(): SavedSchedule {
    return { plan: this.#plan, epoch: this.#epoch, fences: [...this.#fences] };
  }

  /** Restores the plan and its fences; known switches must be learnt again. */
  restore({ plan, epoch, fences }: SavedSchedule): void {
    this.#plan = plan;
    this.#epoch = epoch;
    for (const [passed, iteration] of fences) this.#fences.set(passed, iteration);
  }

  get plan(): ExchangePlan {
    return this.#plan;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The newest epoch up to which this rank knows every switch. */
  get knownEpoch(): number {
    const gap = this.#known.findIndex((planSwitch) => planSwitch === undefined);
    return gap < 0 ? this.#known.length : gap;
  }

  /** Whether this rank knows of switches that are not agreed on yet. */
  get hasNews(): boolean {
    return this.knownEpoch > this.#agreed;
  }

  /** Whether `advance` would return a switch; the same on all ranks. */
  isDue(iteration: number): boolean {
    return this.#due(iteration).length > 0;
  }

  /** The first iteration after this one at which an agreed switch takes effect. */
  nextDue(iteration: number): number | undefined {
    const due = this.#due(Infinity).map(({ notBefore }) => notBefore);
    return due.length === 0 ? undefined : Math.max(iteration + 1, Math.min(...due));
  }

  learn(planSwitch: PlanSwitch): void {
    while (this.#known.length < planSwitch.epoch) this.#known.push(undefined);
    this.#known[planSwitch.epoch - 1] = planSwitch;
  }

  /** The minimum of `knownEpoch` over all ranks. */
  agree(epoch: number): void {
    if (epoch > this.knownEpoch) {
      throw new Error(`internal: agreed on epoch ${epoch}, known ${this.knownEpoch}`);
    }
    this.#agreed = Math.max(this.#agreed, epoch);
  }

  /**
   * The switches that take effect before this iteration, ordered by the requested
   * iteration, then by epoch. Each is returned once.
   */
  advance(iteration: number): readonly PlanSwitch[] {
    const due = this.#due(iteration).toSorted(
      (a, b) => a.notBefore - b.notBefore || a.epoch - b.epoch,
    );
    for (const { epoch } of due) this.#fences.set(epoch, iteration);
    return due.map((planSwitch) => {
      // An overdue switch has its fence here as well.
      const plan = settledPlan(
        planSwitch.plan,
        (epoch) => this.#fences.get(epoch) ?? iteration,
      );
      this.#epoch = planSwitch.epoch;
      this.#plan = plan;
      return plan === planSwitch.plan ? planSwitch : { ...planSwitch, plan };
    });
  }

  #due(iteration: number): readonly PlanSwitch[] {
    return this.#known
      .slice(0, this.#agreed)
      .filter((planSwitch) => planSwitch !== undefined)
      .filter(
        ({ epoch, notBefore }) => !this.#fences.has(epoch) && notBefore <= iteration,
      );
  }
}
