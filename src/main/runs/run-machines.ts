/** The machines that runs are on, as callers of the coordinator see them. */
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import type { NodeConnection } from '../../shared/machines/node-status.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';

/** Most time for a supervisor to say what it has when this process is about to end. */
const LAST_LOOK_MS = 3000;

export class RunMachines {
  readonly #parts: CoordinatorParts;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /** The catalogue of the leading node's agent. */
  async catalogue(): Promise<Catalogue> {
    return (await this.#parts.nodes.lead.connectToLaunch()).hello.catalogue;
  }

  /** The process of this computer's supervisor, if connected. */
  supervisor(): number | undefined {
    return this.#parts.nodes.lead.connection?.hello.pid;
  }

  /**
   * The link to a node, which all runs share.
   * @throws GradwireError `NODE_UNKNOWN`
   */
  node(name: string): NodeLink {
    return this.#parts.nodes.named(name);
  }

  /** Handles machines that have been changed or removed. */
  lookAtNodes(): void {
    this.#parts.nodes.look();
  }

  /** The runs that a connected node has, whoever started them; undefined if it is not connected. */
  async runsOn(node: string): Promise<readonly RunStatus[] | undefined> {
    return (await this.#parts.nodes.made(node)?.connection?.request('runs', {}))?.runs;
  }

  /** The state of the connection to a node. */
  nodeConnection(node: string): NodeConnection {
    return this.#parts.nodes.made(node)?.state ?? { connection: 'idle' };
  }

  /** A machine has been reached in another way: what it runs is followed again. */
  async reached(node: string): Promise<void> {
    const link = this.#parts.nodes.made(node);
    if (link?.state.connection !== 'unreachable') return;
    link.reached();
    const found = await link.find({ interactive: false });
    if (found !== undefined) await this.#parts.recovery.synchronise(link);
  }

  /** Measures the round trips of the live connections to machines. */
  async measureRoundTrips(): Promise<void> {
    const remote = [...this.#parts.nodes].filter(
      (link) => link !== this.#parts.nodes.lead,
    );
    await Promise.all(remote.map((link) => link.measureRoundTrip()));
  }

  /** Reconnects to a node that refused a log-in, if runs there are followed. */
  resume(node: string): void {
    this.#parts.nodes.made(node)?.resume();
  }

  /** Disconnects from a node; its records are read when its runs are followed again. */
  async release(node: string): Promise<void> {
    await this.#parts.nodes.drop(node);
  }

  /** Whether this computer's supervisor is connected and has a run in progress. */
  async hasLiveRuns(): Promise<boolean> {
    const { connection, state } = this.#parts.nodes.lead;
    // A supervisor that does not answer now may have runs; it is not asked.
    if (state.silence !== undefined) return true;
    const reply = await connection?.request('runs', {}, LAST_LOOK_MS);
    return reply?.runs.some(({ phase }) => phase !== 'ended') ?? false;
  }
}
