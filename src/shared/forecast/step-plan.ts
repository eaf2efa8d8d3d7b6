/** The answer to a plan request: predicted steps, verdicts and memory in each world. */
import type { NetworkCost } from '../cost-model/network-cost.ts';
import type { Candidate } from './candidate.ts';
import type { PlanCurve } from './plan-curve.ts';
import type { PlannedMemory } from './planned-memory.ts';
import type { PlanVerdict } from './plan-verdict.ts';

export interface PlannedWorld {
  readonly ranks: number;
  /** Constants of the cost model. */
  readonly network: NetworkCost;
  /** Fastest first. */
  readonly candidates: readonly Candidate[];
  readonly verdict: PlanVerdict;
  readonly memory: PlannedMemory;
}

export interface StepPlan {
  readonly name: string;
  /** Milliseconds of computation in a step, and where they are from. */
  readonly compute: number;
  readonly computeOrigin: string;
  /** The source of the network's constants, in words. */
  readonly network: string;
  /** Elements of the gradient. */
  readonly elements: number;
  /** Steps per exchange, which share its time. */
  readonly every?: number | undefined;
  readonly worlds: readonly PlannedWorld[];
  readonly curve?: PlanCurve | undefined;
}
