/**
 * The control protocol between main (app or CLI) and a supervisor: length-prefixed
 * MessagePack (`frame.ts`) over a Unix socket, later over SSH's stdio. Versioned in the
 * hello. Requests carry an id and are answered once, in any order; records and run
 * states are pushed. Delivery of records is at-least-once by sequence; the store is
 * idempotent, so the result is exactly-once.
 */
import type { Catalogue } from '../catalogue.ts';
import type { LinkTiming } from '../cost-model/link-timing.ts';
import type { NetworkCost } from '../cost-model/network-cost.ts';
import type { ErrorData } from '../errors.ts';
import type { PlanSwitch, ResidualPolicy } from '../exchange-plan.ts';
import type { ExperimentSpec } from '../experiment-spec.ts';
import type { JsonObject } from '../json.ts';
import type { PortRange } from '../port-range.ts';
import type { JournalEntry } from '../records.ts';
import type { SlurmSettings } from '../slurm-settings.ts';

export const PROTOCOL_VERSION = 1;

/**
 * Version of the part by which runs are watched and stopped: hello, records, run states and
 * the requests of `READING_METHODS`. It stays when others change, so that an app can watch what
 * a supervisor of another version keeps.
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
  readonly cores: number;
  readonly catalogue: Catalogue;
}

/** A switch asked for at launch (`--switch 50:method=topk`) or in mid-run (`at` absent). */
export interface SwitchRequest {
  /** Keys of `exchange` to change; keys not named keep their value. */
  readonly change: JsonObject;
  /** First iteration under the new plan; default: as soon as every rank knows. */
  readonly at?: number | undefined;
  readonly residual?: ResidualPolicy | undefined;
}

/** Ports of this machine that lead to a rank on another one. */
export interface TunnelEntrance {
  readonly host: string;
  readonly port: number;
  /** As of `RankAddress`. */
  readonly pulse?: number | undefined;
}

export interface RankAddress {
  readonly host: string;
  readonly port: number;
  /**
   * Where else it may be found, at the same ports, the likeliest first: `host` is not one
   * of the machine's own addresses. Who answers there has to prove who it is, as anywhere.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * Where else it is reached from the machine that this list is for: a tunnel, tried when
   * its own addresses do not work.
   */
  readonly tunnel?: TunnelEntrance | undefined;
  /** The machine's name, where ranks are on several. */
  readonly node?: string | undefined;
  /** Name of a Unix socket that takes the same connections from the same machine. */
  readonly local?: string | undefined;
  /** Port of the same host that takes signs of life; default: none are exchanged. */
  readonly pulse?: number | undefined;
}

/** `interrupted`: something was lost; it goes on from a checkpoint when it can. */
export type RunPhase = 'preparing' | 'running' | 'interrupted' | 'ended';

export interface SupervisedRun {
  readonly run: string;
  readonly phase: RunPhase;
  readonly spec: ExperimentSpec;
  readonly lastSequence: number;
  readonly createdAt: number;
  /** Switches asked for since it began; missing from versions that knew one node. */
  readonly switches?: readonly PlanSwitch[] | undefined;
  /** Of an interrupted run: iterations from which the ranks here can go on, ascending. */
  readonly resumable?: readonly number[] | undefined;
  /**
   * Of an interrupted run: all of its switches, those that have taken effect not before
   * their fence, which the node of rank 0 knows.
   */
  readonly schedule?: readonly PlanSwitch[] | undefined;
}

/** Requests and what answers them. */
export interface SupervisorRequests {
  /** The spec with every name and parameter checked against the registries. */
  validate: {
    request: { spec: unknown; switches?: readonly SwitchRequest[] };
    reply: { spec: ExperimentSpec; switches: readonly PlanSwitch[] };
  };
  /** Start the given ranks; answered when all of them listen. */
  prepare: {
    request: {
      run: string;
      spec: ExperimentSpec;
      switches: readonly SwitchRequest[];
      ranks: readonly number[];
      /** 32 random bytes: peers prove that they know it before a payload is read. */
      secret: Uint8Array;
      /** What was measured of the network, for all ranks of the run. */
      network?: NetworkCost | undefined;
      /** The node of each rank of the run, by rank; default: all are on one. */
      places?: readonly number[] | undefined;
      /** The node's name in records; default: its host name. */
      node?: string | undefined;
      /**
       * Address where its ranks listen and peers find them; default: 127.0.0.1. Where it
       * is none of the machine's own they listen at those instead.
       */
      listen?: string | undefined;
      /** Ports that its ranks may listen on; default: the system chooses. */
      ports?: PortRange | undefined;
      /**
       * Where an interrupted run goes on, which every node must be able to; default: the run
       * begins. `switches` counts for nothing then.
       */
      resume?: { iteration: number; schedule: readonly PlanSwitch[] } | undefined;
      /**
       * The ranks, all of the run's, are to run on nodes that Slurm allots. Answered when
       * the job is asked for; the run begins by itself when Slurm has started it.
       */
      slurm?: SlurmSettings | undefined;
    };
    reply: {
      addresses: readonly { rank: number; address: RankAddress }[];
      /** It waits for an allocation and begins by itself; there are no addresses. */
      queued?: boolean | undefined;
    };
  };
  /** Connect all ranks and begin the first iteration. */
  begin: {
    request: { run: string; addresses: readonly RankAddress[] };
    reply: Record<string, never>;
  };
  /** Validated and given its epoch before any rank hears of it. */
  switch: {
    request: { run: string } & SwitchRequest;
    reply: { switch: PlanSwitch };
  };
  /** Switches that another node's supervisor has planned; those known are passed over. */
  adopt: {
    request: { run: string; switches: readonly PlanSwitch[] };
    reply: Record<string, never>;
  };
  /** End after the current iteration; answered when the run has ended. */
  stop: { request: { run: string }; reply: Record<string, never> };
  /** End at once: the run has failed on another node, with this error. */
  abort: { request: { run: string; error: ErrorData }; reply: Record<string, never> };
  /** Replay the journal after a sequence, then follow it. */
  subscribe: {
    request: { run: string; after: number };
    reply: { lastSequence: number };
  };
  unsubscribe: { request: { run: string }; reply: Record<string, never> };
  /** Everything up to here is stored: once a run has ended its journal may go. */
  acknowledge: {
    request: { run: string; sequence: number };
    reply: Record<string, never>;
  };
  /**
   * One end of a link that is to be measured: a process that listens. It lives until it is
   * closed, the client leaves or a minute has passed; a machine has one link at a time.
   */
  openLinkEnd: {
    request: {
      /** The same at both ends. */
      link: string;
      /** 0: it leads, and gets the result. */
      end: 0 | 1;
      /** Both as of `prepare`. */
      listen: string;
      ports?: PortRange | undefined;
    };
    reply: { address: RankAddress };
  };
  /** Connects the two ends and times messages. */
  timeLink: {
    request: {
      link: string;
      end: 0 | 1;
      addresses: readonly [RankAddress, RankAddress];
      /** 32 random bytes, as for a run. */
      secret: Uint8Array;
      encrypt: boolean;
    };
    reply: { timing?: LinkTiming | undefined; transport: string };
  };
  /** Ends both ends that are here; nothing to do where there is none. */
  closeLink: { request: { link: string }; reply: Record<string, never> };
  runs: {
    request: Record<string, never>;
    reply: { runs: readonly SupervisedRun[] };
  };
}

export type SupervisorMethod = keyof SupervisorRequests;

export const READING_METHODS: readonly SupervisorMethod[] = [
  ...(['runs', 'subscribe', 'unsubscribe', 'acknowledge', 'stop', 'abort'] as const),
];

export interface RequestMessage<M extends SupervisorMethod = SupervisorMethod> {
  readonly type: 'request';
  readonly id: number;
  readonly method: M;
  readonly body: SupervisorRequests[M]['request'];
}

export type ReplyMessage =
  | { readonly type: 'reply'; readonly id: number; readonly body: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData };

export type PushMessage =
  | {
      readonly type: 'records';
      readonly run: string;
      readonly entries: readonly JournalEntry[];
    }
  | { readonly type: 'run'; readonly run: SupervisedRun };

export type FromSupervisor = SupervisorHello | ReplyMessage | PushMessage;
