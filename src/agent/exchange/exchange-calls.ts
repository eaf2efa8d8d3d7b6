/** Requests to an exchange engine, and its answers. */
import type { ExchangePlan, PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import type { Notice } from '../../shared/records/notice.ts';
import type { AsynchronousSettings } from '../asynchronous/served-weights.ts';
import type { PullRequest } from '../asynchronous/server-client.ts';
import type { Vector } from '../memory/arena.ts';
import type { Transition } from '../plan/residual-transition.ts';
import type { LedgerLine } from '../profile/byte-ledger.ts';
import type { LoggedSpans } from '../profile/span-log.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { BucketObservation } from './bucket-observations.ts';
import type { BucketInterval } from './bucket-sums.ts';
import type { StateTransition } from './carried-state.ts';
import type { ExchangeSummary } from './exchange-statistics.ts';
import type { Wishes } from './wishes.ts';

/** A gradient that was not finite on some rank, as all ranks have agreed. */
export interface SkippedExchange {
  /** The lowest rank of them. */
  readonly rank: number;
  /** Description of the element, on that rank. */
  readonly found: string | undefined;
  /**
   * Whether the vector is the average all the same, since every rank has sent its values as they
   * are; otherwise there is none.
   */
  readonly isAveraged: boolean;
}

export interface ExchangeResult extends Wishes {
  readonly profile: ExchangeProfile;
  readonly bytes: LedgerLine & { readonly payload: number };
  readonly statistics: ExchangeSummary;
  /** Elements that were exchanged, where models step in turns. */
  readonly elements?: number | undefined;
  readonly residualNorm?: number | undefined;
  /** The factor by which this rank's gradient was scaled down first; undefined: it was not. */
  readonly clipped?: number | undefined;
  readonly epoch: number;
  readonly method: string;
  /** The collective that carried the largest bucket. */
  readonly collective: string;
  /** The exchange was taken back; undefined if it was not. */
  readonly skipped?: SkippedExchange | undefined;
  /** The exchange's spans and messages, while the run is traced. */
  readonly traced?: TracedExchange | undefined;
  /** Notices of `auto`, the same on all ranks. */
  readonly notices: readonly Notice[];
  /** Observations of the buckets, if requested. */
  readonly buckets?: readonly BucketObservation[] | undefined;
  /** Sums of the buckets over intervals that have ended. */
  readonly intervals?: readonly BucketInterval[] | undefined;
}

/** Spans and messages of an engine, in ms since 1970 less `timeOrigin`. */
export interface TracedExchange extends LoggedSpans {
  readonly timeOrigin: number;
  /** Names of the buckets, by index. */
  readonly buckets: readonly string[];
}

/** The gradient that the trainer computes during an exchange: this one's, or the next. */
type Beside = 'backward' | 'next';

export interface ExchangeRequest {
  readonly beside?: Beside | undefined;
  readonly inspects?: boolean | undefined;
  /** The iteration's number in errors; default: the engine's count. */
  readonly reportedIteration?: number | undefined;
  /** Learning rate η by which the average will be applied; where plans may keep updates. */
  readonly lr?: number | undefined;
  /** Whether the gradient is known to be finite; otherwise it is checked. */
  readonly isFinite?: boolean | undefined;
  /** Whether a gradient that is not finite is skipped by all ranks; default: refused. */
  readonly skips?: boolean | undefined;
  /**
   * Models that this rank has gradients of, where models step in turns; none: it takes part in
   * whatever the others exchange.
   */
  readonly models?: readonly number[] | undefined;
}

export interface ServeRequest {
  /** The iteration that all ranks begin. */
  readonly iteration: number;
  readonly settings: AsynchronousSettings;
  /** Weights, flat, the same on all ranks. */
  readonly weights: Vector;
}

export interface PushRequest {
  /** Learning rate η of this iteration. */
  readonly lr: number;
  /** Vector of the gradient in the arena; default: the exchanged gradient's. */
  readonly gradient?: Vector | undefined;
  /** The iteration to begin next, if any. */
  readonly asks?: PullRequest | undefined;
  readonly inspects?: boolean | undefined;
}

/** Whether an iteration may begin, or all ranks meet before it. */
export type Asked =
  | { readonly begins: false }
  /** Iterations by which its weights lack pushes of the slowest rank. */
  | { readonly begins: true; readonly staleness: number };

/** The result of a push. With several trainer threads, the profile ends at the request. */
export interface PushResult extends ExchangeResult {
  /** Whether the rank's whole residual was sent along; `payload` includes it. */
  readonly drained: boolean;
  /** The answer to the request; undefined if nothing was requested. */
  readonly asked: Asked | undefined;
}

export interface MeetResult extends Pick<
  ExchangeResult,
  'checkpoint' | 'profile' | 'stop' | 'pause'
> {
  /** Bytes sent and received since the last push. */
  readonly bytes: LedgerLine;
}

export interface Fence {
  readonly planSwitch: PlanSwitch;
  readonly from: ExchangePlan;
  readonly transition: Transition;
  /** The fate of the state besides the residual. */
  readonly state: StateTransition;
}

/** The ranks in a summary: all, or those with the same tensors. */
export type SummaryScope = 'world' | 'group';
