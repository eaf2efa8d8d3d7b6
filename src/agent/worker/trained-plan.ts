/**
 * The plan that a rank trains under, and what follows from it: who applies momentum, how far
 * replicas drift apart, and settings without effect.
 */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import {
  driftOf,
  errorBoundOf,
  STILL,
  withMomentumReplaced,
  type Drift,
} from '../plan/tensor-policy.ts';
import type { Trainer } from '../training/trainer.ts';
import { idleUnder } from './idle-settings.ts';
import type { PlanInForce } from './iteration-record.ts';
import type { RankNotices } from './rank-notices.ts';
import { momentumReplaced } from './replaced-momentum.ts';

interface TrainedPlanOptions {
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly notices: RankNotices;
}

export class TrainedPlan {
  readonly #options: TrainedPlanOptions;
  #inForce: PlanInForce | undefined;
  #drift: Drift = STILL;
  #replaced: ReadonlySet<string> = new Set();
  #replacementTold = false;
  #errorBound: number | undefined;

  constructor(options: TrainedPlanOptions) {
    this.#options = options;
  }

  /** The plan that the rank trains under; undefined before the first one. */
  get inForce(): PlanInForce | undefined {
    return this.#inForce;
  }

  get drift(): Drift {
    return this.#drift;
  }

  /** Tensors whose momentum the current method applies itself. */
  get replaced(): ReadonlySet<string> {
    return this.#replaced;
  }

  /** The bound that theory has on the squared error of what a rank sends, as `errorBoundOf` says it. */
  get errorBound(): number | undefined {
    return this.#errorBound;
  }

  /** Trains under this plan from here on. */
  adopt(epoch: number, plan: ExchangePlan): void {
    this.#inForce = { epoch, plan };
    this.#replaceMomentum(plan);
    this.#noticeIdle(plan);
    this.#drift = driftOf(plan, this.#options.trainer.tensors);
    const { spec, trainer } = this.#options;
    // A stage of a pipeline knows the bounds of its own tensors alone.
    this.#errorBound =
      pipelineOf(spec) === undefined ? errorBoundOf(plan, trainer.tensors) : undefined;
  }

  #replaceMomentum(plan: ExchangePlan): void {
    const { notices, spec, trainer } = this.#options;
    this.#replaced = withMomentumReplaced(plan, trainer.tensors);
    if (this.#replacementTold) return;
    const notice = momentumReplaced(spec, trainer, this.#replaced);
    if (notice === undefined) return;
    this.#replacementTold = true;
    notices.ofAll(notice);
  }

  #noticeIdle(plan: ExchangePlan): void {
    const { notices, spec, trainer } = this.#options;
    for (const notice of idleUnder(plan, spec, trainer.tensors)) {
      notices.ofAll(notice);
    }
  }
}
