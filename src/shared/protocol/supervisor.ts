/**
 * The control protocol between main (app or CLI) and a supervisor: length-prefixed
 * MessagePack (`frame.ts`) over a Unix socket or SSH's stdio. Versioned in the
 * hello. Requests carry an id and are answered once, in any order; records and run
 * states are pushed. Delivery of records is at-least-once by sequence; the store is
 * idempotent, so the result is exactly-once.
 */
import type { Catalogue } from '../catalogue.ts';
import type { LinkTiming } from '../cost-model/link-timing.ts';
import type { NetworkProfile } from '../cost-model/network-profile.ts';
import type { ErrorData } from '../errors.ts';
import type { PlanSwitch } from '../exchange-plan.ts';
import type { ExperimentSpec } from '../experiment-spec.ts';
import type { JournalEnding, JournalEntry } from '../records/journal-entry.ts';
import type { RankAddress } from './rank-address.ts';
import type { RequestBodies, SupervisorMethod } from './requests.ts';

export type { SwitchRequest } from './plan-schemas.ts';
export type { RankAddress, TunnelEntrance } from './rank-address.ts';
export type { RequestMessage, SupervisorMethod } from './requests.ts';

export const PROTOCOL_VERSION = 1;

/**
 * Version of the part that watches and stops runs: hello, records, run states and the requests
 * of `READING_METHODS`. It stays when others change, so that an app can watch the runs of a
 * supervisor of another version.
 */
export const READING_VERSION = 1;

export interface SupervisorHello {
  readonly type: 'hello';
  readonly protocol: number;
  /** Default: 1. */
  readonly reading?: number | undefined;
  readonly version: string;
  readonly pid: number;
  readonly host: string;
  /** Made up when it starts: two links with the same one lead to one machine. Not in older versions. */
  readonly instance?: string | undefined;
  readonly cores: number;
  readonly catalogue: Catalogue;
}

/** `interrupted`: something was lost; the run resumes from a checkpoint when it can. */
export type RunPhase = 'preparing' | 'running' | 'interrupted' | 'ended';

export interface RunStatus {
  readonly run: string;
  readonly phase: RunPhase;
  readonly spec: ExperimentSpec;
  readonly lastSequence: number;
  readonly createdAt: number;
  /** Its ranks here; missing in older versions, and for ended runs that a dead supervisor left. */
  readonly ranks?: readonly number[] | undefined;
  /** Switches requested since the start; missing in versions that knew only one node. */
  readonly switches?: readonly PlanSwitch[] | undefined;
  /** Of an interrupted run: iterations from which the ranks here can resume, ascending. */
  readonly resumable?: readonly number[] | undefined;
  /**
   * Of an interrupted run: all its switches. One that has taken effect has its fence as `at`,
   * which the node of rank 0 knows.
   */
  readonly schedule?: readonly PlanSwitch[] | undefined;
  /**
   * Of an ended run: its closing record. A journal that was damaged, or cut short when the
   * machine lost power, ends before what an app has stored of it, so that its last entry
   * would look stored. Missing in older versions.
   */
  readonly ending?: JournalEnding | undefined;
}

/** Requests, whose bodies `requests.ts` defines, and their replies. */
export type SupervisorRequests = {
  readonly [M in SupervisorMethod]: {
    readonly request: RequestBodies[M];
    readonly reply: Replies[M];
  };
};

type Empty = Record<string, never>;

interface Replies {
  validate: { spec: ExperimentSpec; switches: readonly PlanSwitch[] };
  prepare: {
    addresses: readonly { rank: number; address: RankAddress }[];
    /** The run waits for an allocation and starts by itself; there are no addresses yet. */
    queued?: boolean | undefined;
  };
  begin: Empty;
  switch: { switch: PlanSwitch };
  adopt: Empty;
  stop: Empty;
  abort: Empty;
  subscribe: { lastSequence: number };
  unsubscribe: Empty;
  acknowledge: Empty;
  openLinkEnd: { address: RankAddress };
  timeLink: { timing?: LinkTiming | undefined; transport: string };
  closeLink: Empty;
  measureNetwork: { profile: NetworkProfile };
  ping: Empty;
  runs: { runs: readonly RunStatus[] };
}

export const READING_METHODS: readonly SupervisorMethod[] = [
  ...(['runs', 'subscribe', 'unsubscribe', 'acknowledge', 'stop', 'abort'] as const),
];

export type ReplyMessage =
  | { readonly type: 'reply'; readonly id: number; readonly body: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData };

export type PushMessage =
  | {
      readonly type: 'records';
      readonly run: string;
      readonly entries: readonly JournalEntry[];
    }
  | { readonly type: 'run'; readonly run: RunStatus };

export type FromSupervisor = SupervisorHello | ReplyMessage | PushMessage;
