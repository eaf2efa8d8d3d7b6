/**
 * Orders and reports between rank processes that measure and their parent: `measureNetwork`,
 * or a supervisor that has one end of a link.
 */
import type { LinkTiming } from '../../shared/cost-model/link-timing.ts';
import type { PortRange } from '../../shared/port-range.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { LinkOrder } from './link-end.ts';
import type { Probe, ProbeOrder } from './probe-order.ts';

export type ToRank =
  | {
      readonly type: 'listen';
      readonly rank: number;
      /** Default: ranks of one command are processes of one machine. */
      readonly host?: string | undefined;
      readonly ports?: PortRange | undefined;
    }
  | ({ readonly type: 'probe' } & ProbeOrder)
  | ({ readonly type: 'time' } & LinkOrder);

export interface Listening {
  readonly type: 'listening';
  readonly address: RankAddress;
}

export interface Probed extends Probe {
  readonly type: 'probed';
}

/** One end of a link has finished; the first has the result. */
export interface Timed {
  readonly type: 'timed';
  readonly timing?: LinkTiming | undefined;
  /** The transport that carried the messages. */
  readonly transport: string;
}

export type FromRank = Listening | Probed | Timed;
