/** The way to the supervisor of a node, on this computer or by SSH. */
import type { DeployProgress } from '../../shared/machines/node-status.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import type { ConnectionHandlers, ControlConnection } from './control-connection.ts';
import type { PortForwarding } from './port-forwarding.ts';

/** Addresses of the two ends of the connection to a node. */
export interface NodeAddresses {
  /** The node's own address, on which its ranks listen. */
  readonly there: string;
  /** Whether the user gave it; default: it is the one by which SSH reaches the node. */
  readonly chosen?: boolean | undefined;
  /** The local computer's address as the node sees it; default: the node is this computer. */
  readonly here?: string | undefined;
}

/** Terms of one attempt to connect. */
export interface ConnectOptions {
  /** Whether the user may be asked for secrets: only for actions that the user started. */
  readonly interactive?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Settings that may change without a new connection: they apply when ranks are next
 * started.
 */
export interface NodeSettings {
  /** Ports that its ranks may listen on; default: any, or those that the run names. */
  readonly ports?: PortRange | undefined;
  /** Set if its ranks run on nodes that Slurm allocates; default: on itself. */
  readonly slurm?: SlurmSettings | undefined;
}

/** The way to the supervisor of a node. */
export interface NodeAccess extends NodeSettings {
  readonly name: string;
  /** Changes when the same name comes to mean another machine, or another route. */
  readonly identity: string;
  /**
   * The address where ranks on other machines find its ranks; known once it is
   * connected.
   */
  readonly addresses: () => NodeAddresses;
  /**
   * Forwards ports of the node, for ranks elsewhere that cannot reach it.
   * @throws GradwireError if it cannot be reached
   */
  readonly forwardPorts: () => Promise<PortForwarding>;
  /** Connects to a running supervisor; undefined if there is none. */
  find(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection | undefined>;
  /**
   * Tells how far the copy of a program's directory is, and how to cancel it; undefined at its end.
   * Default: nobody is told.
   */
  readonly copying?: (progress: DeployProgress | undefined, cancel: () => void) => void;
  /**
   * Finds the other machines with the same home that have files of these runs: host names by run.
   * Default: no other machine has its home.
   */
  readonly elsewhere?: (
    runs: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>;
  /** Connects, and starts a supervisor if none runs. */
  ensure(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection>;
}
