/**
 * Determines which exchange plan a switch changes: the one in force when the switch
 * takes effect, not one scheduled for later. Follows the order of the ranks' own
 * schedule (`plan/plan-schedule.ts`). Pure.
 */
import type { ExchangePlan, PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import { settledPlan } from '../../plan/settled-plan.ts';

interface Expected {
  /** The iteration at which it takes effect, as far as known when requested. */
  readonly from: number;
  readonly epoch: number;
  readonly plan: ExchangePlan;
}

export class PlanInEffect {
  readonly #initial: ExchangePlan;
  /** Switches to come, in the order in which they take effect. */
  #expected: Expected[] = [];
  #iteration = 0;

  /** `launched`: switches that came with the launch. */
  constructor(plan: ExchangePlan, launched: readonly PlanSwitch[] = []) {
    this.#initial = plan;
    for (const planSwitch of launched) this.add(planSwitch);
  }

  /** The first iteration that no rank has finished. */
  get next(): number {
    return this.#iteration;
  }

  /** Some rank has finished an iteration. */
  reached(iteration: number): void {
    this.#iteration = Math.max(this.#iteration, iteration + 1);
  }

  /**
   * The ranks have passed a switch's fence before this iteration.
   * @param exchange the fence in exchanges, which plans count
   */
  passed(epoch: number, fence: number, exchange: number): void {
    const fenceOf = (other: number): number | undefined =>
      other === epoch ? exchange : undefined;
    this.#expected = this.#expected.map((expected) => ({
      ...expected,
      from: expected.epoch === epoch ? fence : expected.from,
      plan: settledPlan(expected.plan, fenceOf),
    }));
    this.#sort();
  }

  add({ epoch, notBefore, plan }: PlanSwitch): void {
    this.#expected.push({ from: Math.max(notBefore, this.#iteration), epoch, plan });
    this.#sort();
  }

  #sort(): void {
    this.#expected.sort((a, b) => a.from - b.from || a.epoch - b.epoch);
  }

  /** The plan before a switch that is requested now for this iteration. */
  before(notBefore: number): ExchangePlan {
    const from = Math.max(notBefore, this.#iteration);
    return (
      this.#expected.findLast((expected) => expected.from <= from)?.plan ??
      this.#initial
    );
  }
}
