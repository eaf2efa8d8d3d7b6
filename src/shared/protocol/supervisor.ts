/**
 * The control protocol between main (app or CLI) and a supervisor: length-prefixed
 * MessagePack (`frame.ts`) over a Unix socket or SSH's stdio. Versioned in the
 * hello. Requests carry an id and are answered once, in any order; records and run
 * states are pushed. Delivery of records is at-least-once by sequence; the store is
 * idempotent, so the result is exactly-once.
 */
import type { Catalogue } from '../catalogue.ts';
import type { LinkTiming } from '../cost-model/link-timing.ts';
import type { NetworkCost } from '../cost-model/network-cost.ts';
import type { NetworkProfile } from '../cost-model/network-profile.ts';
import type { ErrorData } from '../errors.ts';
import type { PlanSwitch, ResidualPolicy } from '../exchange-plan.ts';
import type { ExperimentSpec } from '../experiment-spec.ts';
import type { JsonObject } from '../json.ts';
import type { PortRange } from '../port-range.ts';
import type { JournalEntry } from '../records.ts';
import type { SlurmSettings } from '../slurm-settings.ts';

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
  readonly cores: number;
  readonly catalogue: Catalogue;
}

/** A switch requested at launch (`--switch 50:method=topk`) or during the run (without `at`). */
export interface SwitchRequest {
  /** Keys of `exchange` to change; keys not named keep their value. */
  readonly change: JsonObject;
  /** First iteration under the new plan; default: as soon as every rank knows. */
  readonly at?: number | undefined;
  readonly residual?: ResidualPolicy | undefined;
}

/** Ports of this machine that are forwarded to a rank on another one. */
export interface TunnelEntrance {
  readonly host: string;
  readonly port: number;
  /** As in `RankAddress`. */
  readonly pulse?: number | undefined;
}

export interface RankAddress {
  readonly host: string;
  readonly port: number;
  /**
   * Other addresses to try, at the same ports, the likeliest first: not all ranks may reach
   * it at `host`, which need not be the machine's own. A peer found there must still prove its identity.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * A tunnel to it from the machine that this list is for, tried when its own addresses do not
   * work.
   */
  readonly tunnel?: TunnelEntrance | undefined;
  /** The machine's name, if ranks are on several. */
  readonly node?: string | undefined;
  /** Name of a Unix socket that accepts the same connections on the same machine. */
  readonly local?: string | undefined;
  /** Port of the same host for heartbeats; default: none are exchanged. */
  readonly pulse?: number | undefined;
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
}

/** Requests and their replies. */
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
      /** 32 random bytes: peers prove that they know them before any payload is read. */
      secret: Uint8Array;
      /** Measurements of the network, for all ranks of the run. */
      network?: NetworkCost | undefined;
      /** The node of each rank of the run, by rank; default: all are on one. */
      places?: readonly number[] | undefined;
      /** The node's name in records; default: its host name. */
      node?: string | undefined;
      /**
       * Address where its ranks listen and peers find them; default: 127.0.0.1. If it is not
       * one of the machine's own addresses, or is `::`, the ranks listen on those instead.
       */
      listen?: string | undefined;
      /** Ports that its ranks may listen on; default: the system chooses. */
      ports?: PortRange | undefined;
      /**
       * The iteration from which an interrupted run resumes, which every node must have;
       * default: the run starts. `switches` is then ignored.
       */
      resume?: { iteration: number; schedule: readonly PlanSwitch[] } | undefined;
      /**
       * Runs all ranks of the run on nodes that Slurm allocates. Answered when the job is
       * submitted; the run starts by itself when Slurm has started the job.
       */
      slurm?: SlurmSettings | undefined;
    };
    reply: {
      addresses: readonly { rank: number; address: RankAddress }[];
      /** The run waits for an allocation and starts by itself; there are no addresses yet. */
      queued?: boolean | undefined;
    };
  };
  /** Connect all ranks and start the first iteration. */
  begin: {
    request: { run: string; addresses: readonly RankAddress[] };
    reply: Record<string, never>;
  };
  /** Validated and numbered with its epoch before any rank receives it. */
  switch: {
    request: { run: string } & SwitchRequest;
    reply: { switch: PlanSwitch };
  };
  /** Switches planned by another node's supervisor; known ones are skipped. */
  adopt: {
    request: { run: string; switches: readonly PlanSwitch[] };
    reply: Record<string, never>;
  };
  /** Stop after the current iteration; answered when the run has ended. */
  stop: { request: { run: string }; reply: Record<string, never> };
  /** End at once: the run has failed on another node, with this error. */
  abort: { request: { run: string; error: ErrorData }; reply: Record<string, never> };
  /** Replay the journal after a sequence, then follow it. */
  subscribe: {
    request: { run: string; after: number };
    reply: { lastSequence: number };
  };
  unsubscribe: { request: { run: string }; reply: Record<string, never> };
  /** Everything up to here is stored: the journal of an ended run may be deleted. */
  acknowledge: {
    request: { run: string; sequence: number };
    reply: Record<string, never>;
  };
  /**
   * Opens one end of a link to measure: a listening process. It lives until it is closed, the
   * client disconnects or a minute has passed; a machine has one link at a time.
   */
  openLinkEnd: {
    request: {
      /** The same at both ends. */
      link: string;
      /** 0 leads and gets the result. */
      end: 0 | 1;
      /** Both as in `prepare`. */
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
  /** Closes the ends that are here, if any. */
  closeLink: { request: { link: string }; reply: Record<string, never> };
  /**
   * Measures latency, bandwidth, kernels and collectives between processes on this machine; ends
   * with the client.
   */
  measureNetwork: {
    request: {
      /** How many processes, at least 2. */
      ranks: number;
      transport: 'auto' | 'tcp' | 'native';
      effort: 'full' | 'quick';
    };
    reply: { profile: NetworkProfile };
  };
  /** Answered at once, to measure the round trip. */
  ping: { request: Record<string, never>; reply: Record<string, never> };
  runs: {
    request: Record<string, never>;
    reply: { runs: readonly RunStatus[] };
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
  | { readonly type: 'run'; readonly run: RunStatus };

export type FromSupervisor = SupervisorHello | ReplyMessage | PushMessage;
