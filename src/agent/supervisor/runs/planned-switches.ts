/** The switches of a run: those requested at launch, and later ones. */
import type { ExchangePlan, PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import {
  exchangeFrom,
  localStepsOf,
} from '../../../shared/spec/parallelism/local-steps.ts';
import type { SwitchRequest } from '../../../shared/protocol/supervisor.ts';
import { assertReached } from '../../launch/validate-launch.ts';
import type { PlanSetting } from '../../plan/plan-setting.ts';
import { resolvePlan } from '../../plan/resolve-plan.ts';
import { requireEngines } from '../../training/program-workload.ts';
import { GuardWatch } from './guard-watch.ts';
import { PlanInEffect } from './plan-in-effect.ts';
import type { RestoredProgress } from './run-options.ts';

export interface PlannedSwitchesOptions {
  readonly spec: ExperimentSpec;
  readonly plan: ExchangePlan;
  readonly switches: readonly PlanSwitch[];
  /** The context for resolving switches. */
  readonly setting: PlanSetting;
  /** The ranks here. */
  readonly ranks: readonly number[];
}

/** A switch that was checked but not made. */
export interface ForeseenSwitch {
  readonly before: ExchangePlan;
  readonly planned: PlanSwitch;
  /** The first iteration at which it could take effect. */
  readonly fence: number;
}

export class PlannedSwitches {
  /** Watches switches that were planned here: their guards are this machine's alone. */
  readonly guard: GuardWatch;
  readonly #options: PlannedSwitchesOptions;
  readonly #forecast: PlanInEffect;
  /** Switches by epoch: requested here during the run, or planned on another node. */
  readonly #later = new Map<number, PlanSwitch>();
  /** Fences by epoch, if rank 0 is here and reports them. */
  readonly #fences = new Map<number, number>();
  #repeats = false;
  #epoch: number;

  constructor(options: PlannedSwitchesOptions) {
    this.#options = options;
    const { every = 1 } = localStepsOf(options.spec) ?? {};
    this.guard = new GuardWatch(options.ranks.length, every);
    this.#forecast = new PlanInEffect(options.plan, options.switches);
    this.#epoch = options.switches.length;
  }

  /** Switches requested after the launch. */
  get later(): readonly PlanSwitch[] {
    return [...this.#later.values()];
  }

  /**
   * Checks a switch and gives it its epoch.
   * @throws GradwireError of kind input: the reason if it is invalid
   */
  plan(request: SwitchRequest & Pick<PlanSwitch, 'why'>): PlanSwitch {
    const { planned } = this.foresee(request);
    this.#learn(planned);
    this.guard.planned(planned);
    return planned;
  }

  /**
   * Checks a switch that is not made, and says from which plan it would lead where.
   * @throws GradwireError of kind input: the reason if it is invalid
   */
  foresee({
    at = 0,
    change,
    residual = 'flush',
    ...told
  }: SwitchRequest & Pick<PlanSwitch, 'why'>): ForeseenSwitch {
    const { spec, setting } = this.#options;
    requireEngines(spec, 'switch');
    const notBefore = this.#repeats ? Math.max(at, this.#forecast.next) : at;
    const fence = Math.max(notBefore, this.#forecast.next);
    assertReached(fence, spec);
    const epoch = this.#epoch + 1;
    const before = this.#forecast.before(notBefore);
    const plan = resolvePlan(change, before, { ...setting, epoch });
    return { before, fence, planned: { epoch, notBefore, plan, residual, ...told } };
  }

  /** All switches; one that has taken effect has its fence as `at`. */
  get passedAt(): readonly PlanSwitch[] {
    return [...this.#options.switches, ...this.later].map((planned) => ({
      ...planned,
      notBefore: this.#fences.get(planned.epoch) ?? planned.notBefore,
    }));
  }

  /** Adds another node's switches. @returns those that are new here, in order */
  adopt(switches: readonly PlanSwitch[]): readonly PlanSwitch[] {
    const fresh = switches
      .filter(({ epoch }) => !this.#isKnown(epoch))
      .toSorted((a, b) => a.epoch - b.epoch);
    for (const planned of fresh) this.#learn(planned);
    return fresh;
  }

  /** Takes up the switches of a run whose supervisor died. */
  restore({ fences, iterations, later }: RestoredProgress): void {
    this.adopt(later);
    this.reached(iterations - 1);
    for (const [epoch, fence] of fences) this.passed(epoch, fence);
  }

  /** The ranks resume from before the last record: a switch requested now comes after it. */
  repeat(): void {
    this.#repeats = true;
  }

  reached(iteration: number): void {
    this.#forecast.reached(iteration);
  }

  passed(epoch: number, fence: number): void {
    this.#fences.set(epoch, fence);
    // A plan begins at a fence, with an exchange.
    this.#forecast.passed(epoch, fence, exchangeFrom(fence, this.#options.spec));
  }

  #isKnown(epoch: number): boolean {
    return epoch <= this.#options.switches.length || this.#later.has(epoch);
  }

  #learn(planned: PlanSwitch): void {
    this.#later.set(planned.epoch, planned);
    this.#epoch = Math.max(this.#epoch, planned.epoch);
    this.#forecast.add(planned);
  }
}
