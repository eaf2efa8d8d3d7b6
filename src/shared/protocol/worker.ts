/**
 * Between a supervisor and one worker: length-prefixed MessagePack, towards the worker
 * on its stdin, from the worker on file descriptor 3. The end of stdin means that the
 * supervisor is gone: the worker exits.
 */
import type { NetworkCost } from '../cost-model/network-cost.ts';
import type { ErrorData } from '../errors.ts';
import type { ExchangePlan, PlanSwitch } from '../exchange-plan.ts';
import type { ExperimentSpec } from '../experiment-spec.ts';
import type { MetricKind } from '../metric.ts';
import type { PortRange } from '../port-range.ts';
import type { RunRecord } from '../records.ts';
import type { RankAddress } from './supervisor.ts';

/** What a rank has written, so that the run can go on from there. */
export interface WrittenCheckpoint {
  /** The iteration that comes next. */
  readonly iteration: number;
  readonly bytes: number;
  /** Milliseconds that the rank did nothing else. */
  readonly wall: number;
}

export type ToWorker =
  | {
      readonly type: 'configure';
      readonly run: string;
      readonly rank: number;
      readonly spec: ExperimentSpec;
      readonly plan: ExchangePlan;
      readonly switches: readonly PlanSwitch[];
      readonly secret: Uint8Array;
      /** Address to listen on for peers. */
      readonly listen: string;
      /** Ports to choose from; default: the system chooses. */
      readonly ports?: PortRange | undefined;
      /** Threads that autodiff may use: cores ÷ ranks on the node, at least 1. */
      readonly threads: number;
      /** Whether the engine gets a thread of its own. */
      readonly engine: 'thread' | 'inline';
      /** What was measured of the network, the same for all ranks; default: nothing was. */
      readonly network?: NetworkCost | undefined;
      /** The node of each rank of the run, by rank; default: all are on one. */
      readonly places?: readonly number[] | undefined;
      /** The directory of the run's checkpoints on this node; default: it makes none. */
      readonly checkpoints?: string | undefined;
      /** The iteration of the checkpoint to go on from; default: the run begins. */
      readonly resume?: number | undefined;
    }
  | { readonly type: 'begin'; readonly addresses: readonly RankAddress[] }
  | { readonly type: 'switch'; readonly switch: PlanSwitch }
  | { readonly type: 'stop' }
  /** To end after the iteration under way as if interrupted: with a checkpoint, no result. */
  | { readonly type: 'pause' };

export type FromWorker =
  | { readonly type: 'listening'; readonly address: RankAddress }
  /** Model built, data loaded, peers connected. */
  | {
      readonly type: 'ready';
      readonly backend: string;
      /** What computes. */
      readonly device?: string | undefined;
      /** Why `auto` did not take a GPU, where that is so. */
      readonly why?: string | undefined;
      readonly parameters: number;
      /** What the model is measured by beside its loss; accuracy where it is missing. */
      readonly metricKind?: MetricKind | undefined;
    }
  | { readonly type: 'records'; readonly records: readonly RunRecord[] }
  /** This rank's checkpoint is on the disk. */
  | ({ readonly type: 'checkpoint' } & WrittenCheckpoint)
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: ErrorData };
