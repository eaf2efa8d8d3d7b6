/** What an exchange engine is asked for, and what it answers. */
import type { ExchangePlan, PlanSwitch } from '../../shared/exchange-plan.ts';
import type { Notice } from '../../shared/records.ts';
import type { AsynchronousSettings } from '../asynchronous/served-weights.ts';
import type { Ask } from '../asynchronous/server-client.ts';
import type { Vector } from '../memory/arena.ts';
import type { Transition } from '../plan/residual-transition.ts';
import type { LedgerLine } from '../profile/byte-ledger.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { StateTransition } from './carried-state.ts';
import type { ExchangeSummary } from './exchange-statistics.ts';
import type { BucketObservation } from './plan-execution.ts';

export interface ExchangeResult {
  readonly profile: ExchangeProfile;
  readonly bytes: LedgerLine & { readonly payload: number };
  readonly statistics: ExchangeSummary;
  readonly residualNorm?: number | undefined;
  readonly epoch: number;
  readonly method: string;
  /** The collective that carried the largest bucket. */
  readonly collective: string;
  /** All ranks agreed to stop after this iteration. */
  readonly stop: boolean;
  /** As `stop`, but they are to continue later from a checkpoint. */
  readonly pause: boolean;
  /** What `auto` has to say: the same on all ranks. */
  readonly notices: readonly Notice[];
  /** Where they were asked for. */
  readonly buckets?: readonly BucketObservation[] | undefined;
}

/** What the trainer computes while an exchange is under way: its gradient, or the next. */
export type Beside = 'backward' | 'next';

export interface ExchangeRequest {
  readonly beside?: Beside | undefined;
  readonly inspects?: boolean | undefined;
  /** What errors call the iteration; default: as it is counted. */
  readonly named?: number | undefined;
  /** η by which the average will be applied; where plans may keep updates. */
  readonly rate?: number | undefined;
}

export interface ServeRequest {
  /** The one that all ranks begin. */
  readonly iteration: number;
  readonly settings: AsynchronousSettings;
  /** Flat, the same on all ranks. */
  readonly weights: Vector;
}

export interface PushRequest {
  /** η, of this iteration. */
  readonly lr: number;
  /** Where it is in the arena; default: where gradients are exchanged. */
  readonly gradient?: Vector | undefined;
  /** Which iteration is to begin next, if any is. */
  readonly asks?: Ask | undefined;
  readonly inspects?: boolean | undefined;
}

/** Whether an iteration may begin: not where all meet before it. */
export type Asked =
  | { readonly begins: false }
  /** Iterations by which its weights lack pushes of the slowest rank. */
  | { readonly begins: true; readonly staleness: number };

/** Of several trainer threads: its profile ends where the question is asked. */
export interface PushResult extends ExchangeResult {
  /** Whether all that the rank's methods had kept back was sent along; `payload` has it. */
  readonly drained: boolean;
  /** Undefined where nothing was asked for. */
  readonly asked: Asked | undefined;
}

export interface MeetResult extends Pick<ExchangeResult, 'profile' | 'stop' | 'pause'> {
  /** Sent and received since the last push. */
  readonly bytes: LedgerLine;
}

export interface Fence {
  readonly planSwitch: PlanSwitch;
  readonly from: ExchangePlan;
  readonly transition: Transition;
  /** What became of the state that is kept beside the residual. */
  readonly state: StateTransition;
}

/** Which ranks take part in a summary: all, or those with the same tensors. */
export type SummaryScope = 'all' | 'replicas';
