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

/** A checkpoint that a rank has written, from which the run can resume. */
export interface WrittenCheckpoint {
  /** The next iteration. */
  readonly iteration: number;
  readonly bytes: number;
  /** Milliseconds during which the rank did nothing else. */
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
      /** Whether the engine gets its own thread. */
      readonly engine: 'thread' | 'inline';
      /** Measurements of the network, the same for all ranks; default: none. */
      readonly network?: NetworkCost | undefined;
      /** The node of each rank of the run, by rank; default: all are on one. */
      readonly places?: readonly number[] | undefined;
      /** Directory of the run's checkpoints on this node; default: no checkpoints. */
      readonly checkpoints?: string | undefined;
      /** Iteration of the checkpoint to resume from; default: the run starts. */
      readonly resume?: number | undefined;
    }
  | { readonly type: 'begin'; readonly addresses: readonly RankAddress[] }
  | { readonly type: 'switch'; readonly switch: PlanSwitch }
  | { readonly type: 'stop' }
  /** Stop after the current iteration as if interrupted: a checkpoint but no result. */
  | { readonly type: 'pause' };

export type FromWorker =
  | { readonly type: 'listening'; readonly address: RankAddress }
  /** Model built, data loaded, peers connected. */
  | {
      readonly type: 'ready';
      readonly backend: string;
      /** The device that computes. */
      readonly device?: string | undefined;
      /** The GPU's PCI bus id, as nvidia-smi prints it, if that is known. */
      readonly bus?: string | undefined;
      /** Why `auto` did not choose a GPU, if it did not. */
      readonly why?: string | undefined;
      readonly parameters: number;
      /** The model's metric; default: accuracy. */
      readonly metricKind?: MetricKind | undefined;
    }
  | { readonly type: 'records'; readonly records: readonly RunRecord[] }
  /** This rank's checkpoint is on the disk. */
  | ({ readonly type: 'checkpoint' } & WrittenCheckpoint)
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: ErrorData };
