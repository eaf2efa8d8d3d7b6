/** Orders and reports between `measureNetwork` and its rank processes. */
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { Probe, ProbeOrder } from './probe-rank.ts';

export type ToRank =
  | { readonly type: 'listen'; readonly rank: number }
  | ({ readonly type: 'probe' } & ProbeOrder);

export interface Listening {
  readonly type: 'listening';
  readonly address: RankAddress;
}

export interface Probed extends Probe {
  readonly type: 'probed';
}

export type FromRank = Listening | Probed;
