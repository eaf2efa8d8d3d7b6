/**
 * The protocol between the trainer thread (the worker's main thread) and the engine thread: calls
 * with an id, answered once and in any order, and orders without an answer. Bulk data never travels
 * here: it is in the shared arena.
 */
import type { RankOrder } from '../../../shared/orders/orders.ts';
import type { NetworkCost } from '../../../shared/cost-model/network-cost.ts';
import type { EmulatedNetwork } from '../../../shared/machines/emulated-network.ts';
import type { ErrorData } from '../../../shared/errors/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { PortRange } from '../../../shared/machines/port-range.ts';
import type { RankAddress } from '../../../shared/protocol/supervisor.ts';
import type { Notice } from '../../../shared/records/notice.ts';
import type { PassedBytes, StageSetting } from '../../pipeline/stage-setting.ts';
import type { PullRequest } from '../../asynchronous/server-client.ts';
import type { RankScores } from '../../collectives/rank-pairs.ts';
import type { SmallOperation } from '../../collectives/small-allreduce.ts';
import type { BucketInterval } from '../../exchange/bucket-sums.ts';
import type { EngineState, PortableState } from '../../exchange/engine-state.ts';
import type {
  Asked,
  ExchangeRequest,
  ExchangeResult,
  Fence,
  MeetResult,
  PushRequest,
  PushResult,
  ServeRequest,
  SummaryScope,
} from '../../exchange/exchange-calls.ts';
import type { Vector } from '../../memory/arena.ts';
import type { PassageCall } from '../../pipeline/boundary.ts';
import type { SharedCall, StageVectors } from '../../pipeline/stage-exchange.ts';
import type { FlatTensor } from '../../plan/buckets.ts';
import type { ExchangeProfile } from '../../profile/phase-clock.ts';

export interface EngineCalls {
  /**
   * Open the arena and listen for peers at `host`, or at the machine's other
   * addresses.
   */
  listen: {
    request: {
      host: string;
      ports?: PortRange | undefined;
      /** Memory of the arena, made by `arenaMemory`; default: its own. */
      memory?: WebAssembly.Memory | undefined;
    };
    reply: { memory: WebAssembly.Memory; address: RankAddress };
  };
  /**
   * Connect to all peers and adopt the plan; returns the fences before the first
   * iteration.
   */
  connect: {
    request: {
      run: string;
      rank: number;
      seed: number;
      /** The largest norm of a rank's own gradient; default: any. */
      clipNorm?: number | undefined;
      addresses: readonly RankAddress[];
      secret: Uint8Array;
      /** Time to wait for a message from a live rank. */
      timeoutMs: number;
      /** Whether the gradient has pages of its own, which other memory can replace. */
      ownPages?: boolean | undefined;
      /** Whether the gradient may lie outside of the arena, if that has no room; default: not. */
      mayUseWindows?: boolean | undefined;
      /** Bytes that the arena may have; default: as many as 32 bits address. */
      arenaBytes?: number | undefined;
      /** Time to wait for the other ranks to connect; default: 30 s. */
      connectMs?: number | undefined;
      /** Time for which a rank may give no sign of life; default: 3 s. */
      silenceMs?: number | undefined;
      transport: ExperimentSpec['transport'];
      encrypt?: boolean | undefined;
      /** The emulated network; default: the real one. */
      emulated?: EmulatedNetwork | undefined;
      /** The name of each rank's node; default: all are on one. */
      nodes?: readonly string[] | undefined;
      /** Threads for the kernels, including the engine's own. */
      threads: number;
      tensors: readonly FlatTensor[];
      /** Names of the models that step in turns; default: all tensors are of every step. */
      turns?: readonly string[] | undefined;
      plan: ExchangePlan;
      switches: readonly PlanSwitch[];
      network?: NetworkCost | undefined;
      /** The node of each rank; default: all are on one. */
      places?: readonly number[] | undefined;
      /** Whether Slurm picks other nodes for every run: their links cannot be measured before. */
      allocated?: boolean | undefined;
      /** Ranks with the same tensors; default: all. */
      group?: readonly number[] | undefined;
      /** State to resume from; default: the run begins. */
      resume?: { iteration: number; state: EngineState } | undefined;
    };
    reply: {
      /** The flat gradient's position in the arena, unless it is on a GPU or outside. */
      gradient: Vector | undefined;
      /** The flat gradient, where it is outside of the arena. */
      outside: Float32Array<SharedArrayBuffer> | undefined;
      fences: readonly Fence[];
      notices: readonly Notice[];
    };
  };
  /**
   * Average the gradient; returns the fences before the next iteration. If the trainer
   * computes meanwhile, `advance` and `exposed` follow.
   */
  exchange: {
    request: { iteration: number } & ExchangeRequest;
    reply: {
      result: ExchangeResult;
      fences: readonly Fence[];
      notices: readonly Notice[];
    };
  };
  /** Asynchronous training begins, or continues after a meeting of all ranks. */
  serve: {
    request: ServeRequest;
    /**
     * `until`: the iteration before which all ranks meet for an agreed switch, if any.
     */
    reply: { until: number | undefined };
  };
  /** Push a gradient to the servers, and ask for weights. */
  push: {
    request: { iteration: number } & PushRequest;
    reply: { result: PushResult };
  };
  ask: { request: PullRequest; reply: Asked };
  /** All ranks meet before this iteration; returns its fences. */
  meet: {
    request: { iteration: number };
    reply: {
      result: MeetResult;
      fences: readonly Fence[];
      notices: readonly Notice[];
    };
  };
  /** Saves the state between two exchanges; valid until the next one. */
  save: {
    request: Record<string, never>;
    reply: { state: EngineState; passages: readonly Float32Array[] };
  };
  /** State for a program's own checkpoint. */
  portable: { request: Record<string, never>; reply: PortableState };
  /** Takes over the state that `portable` returned, without the residual, on all ranks alike. */
  adopt: { request: Omit<PortableState, 'residual'>; reply: { fits: boolean } };
  allocate: {
    /** `ownPages`: whether the vector has memory pages of its own; default: not. */
    request: { length: number; ownPages?: boolean | undefined };
    reply: { vector: Vector };
  };
  average: {
    /** `measures`: whether the average is only a measure; default: it is part of training. */
    request: { vector: Vector; measures?: boolean | undefined };
    reply: { profile: ExchangeProfile };
  };
  divergence: { request: { vector: Vector }; reply: { value: number } };
  summarize: {
    request: {
      values: readonly number[];
      operations: readonly SmallOperation[];
      among?: SummaryScope | undefined;
    };
    reply: { values: readonly number[] };
  };
  /**
   * The number of pairs of a staying and a travelling score, over those of all ranks, in which the
   * staying one is lower. A pair of equal scores counts half.
   */
  countPairs: { request: RankScores; reply: { pairs: number } };
  /** Opens a stage of a pipeline, once. */
  openStage: {
    /** `passages`: saved state of this rank's stage. */
    request: StageSetting & { passages?: readonly Float32Array[] | undefined };
    reply: StageVectors;
  };
  /**
   * Sends what the trainer has written to a neighbour; resolves when it may write again.
   */
  sendPassage: { request: PassageCall; reply: PassedBytes };
  /** `idle`: ms until the other stage had something to send. */
  receivePassage: { request: PassageCall; reply: { idle: number } };
  sendShared: { request: SharedCall; reply: PassedBytes };
  receiveShared: { request: SharedCall; reply: { idle: number } };
  /** Resolves when everything sent to other stages has left. */
  settle: { request: Record<string, never>; reply: Record<string, never> };
  /** Whether later messages only measure the run. */
  measuring: { request: { begins: boolean }; reply: Record<string, never> };
  /** Returns by how many bytes the ledger is off, once everything is sent and received. */
  balance: {
    request: Record<string, never>;
    reply: { sent: number; received: number };
  };
  /** Takes the sums of buckets since their last interval. */
  sums: {
    request: Record<string, never>;
    reply: { intervals: readonly BucketInterval[] };
  };
  close: { request: Record<string, never>; reply: Record<string, never> };
}

export type EngineCall = keyof EngineCalls;

/** Messages to the engine that it does not answer. */
export type EngineOrder =
  /** An order to the run. */
  | { readonly type: 'obey'; readonly order: RankOrder }
  /** All elements of this iteration's gradient from this one on are ready. */
  | { readonly type: 'advance'; readonly iteration: number; readonly from: number }
  /** When the trainer finished its work during this exchange, in ms since 1970. */
  | { readonly type: 'exposed'; readonly iteration: number; readonly at: number }
  | { readonly type: 'end' }
  | { readonly type: 'trace'; readonly on: boolean }
  | { readonly type: 'abort'; readonly error: ErrorData };

export type ToEngine =
  | {
      [C in EngineCall]: {
        readonly type: 'call';
        readonly id: number;
        readonly call: C;
        readonly request: EngineCalls[C]['request'];
      };
    }[EngineCall]
  | EngineOrder;

export type FromEngine =
  | { readonly type: 'reply'; readonly id: number; readonly reply: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData };
