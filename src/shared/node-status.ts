/** A machine of the inventory as the app shows it: its facts and current activity. */
import type { ErrorData } from './errors.ts';
import type { FoundRun } from './found-run.ts';
import type { NodeEntry } from './node-entry.ts';
import type { Preflight } from './preflight.ts';

export const DEPLOY_STEPS = [
  'check',
  'fetch',
  'pack',
  'upload',
  'verify',
  'unpack',
] as const;
export type DeployStep = (typeof DEPLOY_STEPS)[number];

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
  /** The package concerned: Gradwire's agent, or the Node that runs it. */
  readonly package?: 'agent' | 'runtime' | undefined;
  readonly doneBytes?: number | undefined;
  readonly totalBytes?: number | undefined;
}

export type NodeActivityKind = 'check' | 'deploy' | 'uninstall';

export interface NodeActivity {
  readonly kind: NodeActivityKind;
  readonly progress?: DeployProgress | undefined;
}

/**
 * The state of the connection to a machine; `idle`: no run needs it now; `refused`: it
 * waits for the user, as the last log-in was refused.
 */
export interface NodeConnection {
  readonly connection: 'idle' | 'connected' | 'reconnecting' | 'refused';
  /** The version of the supervisor there, if it differs from the app's. */
  readonly otherVersion?: string | undefined;
}

/** What comes with a change of a machine's entry. */
export interface NodeEdit {
  /** The entry that the user saw; default: whatever it is now. */
  readonly shown?: unknown;
  /** Where runs have ranks there: another host, user or jump host leads to the same account. */
  readonly sameMachine?: boolean | undefined;
}

export interface NodeStatus extends NodeConnection {
  readonly name: string;
  /** Undefined for this computer. */
  readonly entry?: NodeEntry | undefined;
  readonly activity?: NodeActivity | undefined;
  readonly preflight?: Preflight | undefined;
  /** When the preflight ran: ms since 1970. */
  readonly checkedAt?: number | undefined;
  /** Hash of the agent, once it is known to be installed. */
  readonly agent?: string | undefined;
  /** Why the last action there failed. */
  readonly error?: ErrorData | undefined;
  /** Runs that have ranks there and have not ended. */
  readonly runs: readonly { readonly id: string; readonly name: string }[];
  /** Runs in progress there that are not followed here, when it was last asked. */
  readonly found?: readonly FoundRun[] | undefined;
}
