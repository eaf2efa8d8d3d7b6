/** Orders and reports between `BenchWorld` and its rank processes. */
import type { EmulatedNetwork } from '../../src/shared/machines/emulated-network.ts';
import type { ExchangePlan } from '../../src/shared/plan/exchange-plan.ts';
import type { Phase } from '../../src/shared/records/phases.ts';
import type { RankAddress } from '../../src/shared/protocol/supervisor.ts';
import type { FlatTensor } from '../../src/agent/plan/buckets.ts';
import type { RankTimings } from '../../src/agent/probe/probe-order.ts';
import type { TransportChoice } from './rank-transport.ts';

export type ToRank =
  | {
      readonly type: 'listen';
      readonly rank: number;
      readonly host: string;
      readonly transport: TransportChoice;
    }
  | {
      readonly type: 'connect';
      readonly addresses: readonly RankAddress[];
      readonly secret: Uint8Array;
      readonly emulated?: EmulatedNetwork | undefined;
      /** The node of each rank; default: all are on one. */
      readonly places?: readonly number[] | undefined;
      /** Whether phases are timed, as a run does, which costs some clock readings. */
      readonly profiled: boolean;
    }
  | { readonly type: 'probe' }
  | { readonly type: 'measure'; readonly cell: Cell }
  | { readonly type: 'iterate'; readonly exchange: IteratedExchange };

/** One collective on one kind of vectors, so many times. */
export interface Cell {
  readonly collective: string;
  /** N, elements. */
  readonly length: number;
  /** k, entries of a sparse payload; undefined: a dense one. */
  readonly count?: number | undefined;
  /** The number of the random indices: ranks and numbers have their own, the same in every run. */
  readonly dataSet: number;
  /** Whether it is run once before, to see that its result is right and what it sends. */
  readonly checked: boolean;
  /** Repetitions that are not counted, before those that are. */
  readonly warmUp: number;
  readonly repetitions: number;
  /** Exchanges in a row within a repetition, whose mean it reports. */
  readonly batch: number;
}

export interface Listening {
  readonly type: 'listening';
  readonly address: RankAddress;
}

export interface Connected {
  readonly type: 'connected';
  /** The transport in use: `auto` has been resolved. */
  readonly transport: string;
}

export interface Probed {
  readonly type: 'probed';
  readonly timings: RankTimings;
}

export interface MeasuredExchange {
  /** Bytes that this rank sent. */
  readonly payloadBytes: number;
  readonly framingBytes: number;
  /** Entries of the result. */
  readonly entries: number;
}

export interface Measured {
  readonly type: 'measured';
  /** Milliseconds an exchange, by repetition. */
  readonly times: readonly number[];
  /** The checked exchange, if it was checked. */
  readonly exchange?: MeasuredExchange | undefined;
  /** Peak of the arena since the process began. */
  readonly arenaBytes: number;
}

/** Iterations of the exchange engine on one gradient. */
export interface IteratedExchange {
  readonly plan: ExchangePlan;
  readonly tensors: readonly FlatTensor[];
  /** The gradient of this rank, flat: the bytes of f32 values. */
  readonly gradient: Uint8Array;
  readonly iterations: number;
}

export interface Iterated {
  readonly type: 'iterated';
  readonly iterations: readonly IterationProfile[];
}

export interface IterationProfile {
  readonly wall: number;
  readonly phases: Readonly<Record<Phase, number>>;
  readonly overlapped: number;
  readonly payloadBytes: number;
  readonly wireSent: number;
  readonly collective: string;
}

export type FromRank = Listening | Connected | Probed | Measured | Iterated;
