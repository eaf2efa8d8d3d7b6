/** A machine of the inventory as the app shows it: its facts and current activity. */
import type { ErrorData } from '../errors/errors.ts';
import type { FoundRun } from './found-run.ts';
import type { NodeEntry } from './node-entry.ts';
import type { Preflight } from './preflight.ts';

export type DeployStep = 'check' | 'fetch' | 'pack' | 'upload' | 'verify' | 'unpack';

export const DEPLOY_STEP_NAMES: Readonly<Record<DeployStep, string>> = {
  check: 'checking the machine',
  fetch: 'fetching packages for its processor from npm',
  pack: 'packing',
  upload: 'uploading',
  verify: 'verifying',
  unpack: 'unpacking',
};

export interface DeployProgress {
  readonly step: DeployStep;
  /** The package concerned: Gradwire's agent, the Node that runs it, or a program's directory. */
  readonly package?: 'agent' | 'runtime' | 'workdir' | undefined;
  readonly doneBytes?: number | undefined;
  readonly totalBytes?: number | undefined;
}

export type NodeActivityKind = 'check' | 'deploy' | 'uninstall';

export interface NodeActivity {
  readonly kind: NodeActivityKind;
  readonly progress?: DeployProgress | undefined;
}

/** Facts that were last found out about a machine; they are kept. */
export interface NodeFacts {
  readonly preflight?: Preflight | undefined;
  /** When the preflight ran: ms since 1970. */
  readonly checkedAt?: number | undefined;
  /** Hash of the agent, once it is known to be installed. */
  readonly agent?: string | undefined;
}

/** A lost or silent connection. */
export interface NodeLoss {
  /** ms since 1970 */
  readonly since: number;
  /**
   * The reason for the silence, or for the last failed attempt to make the connection again:
   * undefined before one.
   */
  readonly error?: ErrorData | undefined;
}

/**
 * The state of the connection to a machine. `idle`: no run needs it now; `unreachable`: it
 * was lost, no run needs it, and attempts to make it again have ended; `refused`: it waits
 * for the user, as the last log-in was refused.
 */
export interface NodeConnection {
  readonly connection:
    'idle' | 'connected' | 'reconnecting' | 'unreachable' | 'refused';
  /** Time to the supervisor there and back, in ms, as last measured; of a live connection. */
  readonly roundTripMs?: number | undefined;
  /** The current attempt to reconnect, and the last one if no run waits for it. */
  readonly attempt?: { readonly number: number; readonly last?: number } | undefined;
  /** The loss of the connection, while it reconnects, and when it has given up. */
  readonly loss?: NodeLoss | undefined;
  /** A connected machine gives no sign of life; what is followed there goes on. */
  readonly silence?: NodeLoss | undefined;
  /** The version of the supervisor there, if it differs from the app's. */
  readonly otherVersion?: string | undefined;
}

/** Facts that come with a change of a machine's entry. */
export interface NodeEdit {
  /** The entry that the user saw; default: whatever it is now. */
  readonly shown?: unknown;
  /**
   * Whether another host, user or jump host leads to the same account, where runs have ranks
   * there.
   */
  readonly sameMachine?: boolean | undefined;
}

/** The end of a supervisor's log. */
export interface SupervisorLog {
  /** The log's path there; relative to the home directory of an account reached by SSH. */
  readonly file: string;
  /** The log's last lines, the newest last; undefined if there is no log. */
  readonly lines?: readonly string[] | undefined;
}

export interface NodeStatus extends NodeConnection, NodeFacts {
  readonly name: string;
  /** The machine's entry; undefined for this computer. */
  readonly entry?: NodeEntry | undefined;
  readonly activity?: NodeActivity | undefined;
  /** The error of the last action there, or the reason why the machine gives no sign of life. */
  readonly error?: ErrorData | undefined;
  /** Runs that have ranks there and have not ended. */
  readonly runs: readonly { readonly id: string; readonly name: string }[];
  /** Runs in progress there that are not followed here, when it was last asked. */
  readonly found?: readonly FoundRun[] | undefined;
}
