/** Orders to measure, and their results. */
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { TransportKind } from '../transport/transport-choice.ts';
import type { CollectiveTiming, ProbeEffort } from './collective-timing.ts';
import type { KernelTimings } from './kernel-timing.ts';
import type { LinkTimings } from './link-timing.ts';

export interface RankTimings extends LinkTimings {
  readonly kernels: KernelTimings;
  readonly collectives: readonly CollectiveTiming[];
}

export interface Probe {
  readonly timings: RankTimings;
  /** The transport that carried the messages. */
  readonly transport: TransportKind;
}

export interface ProbeOrder {
  readonly addresses: readonly RankAddress[];
  readonly run: string;
  readonly secret: Uint8Array;
  readonly transport: TransportKind | 'auto';
  readonly effort: ProbeEffort;
}
