/**
 * Handles runs that continued without being followed: after a start, after a lost
 * connection, or because another process launched them. Runs that have not ended in the
 * store are followed again, or failed if no supervisor knows them.
 */
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/rpc.ts';
import { withinList } from '../cluster/list-patience.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { NodeSet } from '../cluster/node-set.ts';
import { isRefusal } from '../cluster/reconnection.ts';
import { isAlive } from '../home/process-life.ts';
import type { UnendedRun } from '../store/run-list.ts';
import type { RunStore } from '../store/run-store.ts';
import { mendDamaged } from './damaged-runs.ts';
import { relayMissed } from './other-nodes.ts';
import type { RunFollowers } from './run-followers.ts';

export interface RecoveryOptions {
  readonly store: RunStore;
  readonly nodes: NodeSet;
  readonly followers: RunFollowers;
  /** `all`: follow every run that a supervisor has. `own`: only those requested. */
  readonly scope: 'all' | 'own';
  changed(summary: RunSummary): void;
  trouble(error: unknown): void;
  linkTrouble(link: NodeLink, error: ErrorData): void;
  /** Called when a followed run should resume from a checkpoint. */
  interrupted(run: string): void;
}

export class RunRecovery {
  readonly #options: RecoveryOptions;
  readonly #store: RunStore;
  readonly #nodes: NodeSet;
  readonly #followers: RunFollowers;
  /**
   * Runs that were followed when a node's connection was lost, or were to be, until they are
   * followed again; by node.
   */
  readonly #interrupted = new Map<string, Set<string>>();

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#nodes = options.nodes;
    this.#followers = options.followers;
  }

  /**
   * Whether the connection to a node is needed: for a run there, or records of one that are
   * not stored yet. The app always needs the leading node's.
   */
  needs(link: NodeLink): boolean {
    if (this.follows(link)) return true;
    if (this.#options.scope !== 'all') return false;
    return link === this.#nodes.lead || this.#awaits(link.name);
  }

  #awaits(name: string): boolean {
    try {
      return (
        this.#store.runs.unended().some(({ nodes }) => nodes.includes(name)) ||
        this.#store.missingJournals().some(({ node }) => node === name)
      );
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      // While the store cannot be read, no machine is given up.
      return true;
    }
  }

  /** Whether runs are followed there, or were when its connection was lost. */
  follows(link: NodeLink): boolean {
    return this.#followers.ids(link).length + this.#interruptedOn(link).size > 0;
  }

  /**
   * Catches up with runs that were not followed: runs that have not ended in the store
   * are followed again, or failed where the supervisor does not know them; runs that
   * only the supervisor knows are added. Resolves when all journals have been caught
   * up. If no run is open and no supervisor runs, none is started.
   */
  async recover(): Promise<void> {
    // Runs of machines that do not answer stay damaged, as the list says.
    await mendDamaged(this.#store.damaged, this.#nodes);
    const unended = this.#store.runs.unended();
    await this.#recoverNode(this.#nodes.lead, unended.length > 0);
    const elsewhere = new Set(unended.flatMap(({ nodes }) => nodes));
    if (this.#options.scope === 'all') {
      for (const { node } of this.#store.missingJournals()) {
        // A removed machine can provide nothing more.
        if (this.#nodes.has(node)) elsewhere.add(node);
      }
    }
    elsewhere.delete(this.#nodes.lead.name);
    // Unreachable nodes must not keep other records from being shown.
    await Promise.all(
      this.#linksTo([...elsewhere]).map(async (link) => {
        try {
          if (this.#options.scope === 'all') await this.#recoverNode(link, true);
          else
            await withinList(link.name, (signal) =>
              this.#recoverNode(link, true, signal),
            );
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          if (this.#options.scope === 'all') {
            this.#options.linkTrouble(link, error.toData());
            if (error.code === 'SSH_UNREACHABLE') link.takeOver(error.toData());
          }
        }
      }),
    );
    await this.#followers.caughtUp();
  }

  async #recoverNode(
    link: NodeLink,
    needed: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    // This is not a user's action, so a machine that needs a password waits for one.
    const options = { interactive: false, signal };
    if (needed) await link.connect(options);
    else if ((await link.find(options)) === undefined) return;
    signal?.throwIfAborted();
    await this.synchronise(link, true);
  }

  /**
   * Follows runs that other processes have launched and added to the store.
   * @param isRepeated whether this is a repeated check, which does not retry unreachable
   * machines
   * @returns whether to check again: a process writes a run's row before a supervisor
   * knows the run, and may write nothing afterwards
   */
  async discover(isRepeated: boolean): Promise<boolean> {
    const unended = this.#store.runs.unended();
    let again = false;
    for (const link of this.#linksTo(unended.flatMap(({ nodes }) => nodes))) {
      const here = unended.filter((run) => this.#isStrange(run, link));
      if (here.length === 0) continue;
      const isUntried = !isRepeated && !here.every(({ id }) => this.#followers.has(id));
      if (link.connection === undefined && link !== this.#nodes.lead && !isUntried) {
        continue;
      }
      try {
        await link.connect({ interactive: false });
        again = (await this.#discoverOn(link, here)) || again;
      } catch (error) {
        // Only for this node; the others' runs have been found.
        this.#options.linkTrouble(link, toErrorData(error));
        // A node that reconnects is asked then; any other error would occur again.
        again ||= toErrorData(error).code === 'SUPERVISOR_TIMEOUT';
      }
    }
    return again;
  }

  /**
   * Whether its journal on the node should be followed and is not: supervisors learn of a run
   * one after the other.
   */
  #isStrange({ id, nodes }: UnendedRun, link: NodeLink): boolean {
    if (!nodes.includes(link.name) || this.#followers.has(id, link)) return false;
    return !this.#followers.has(id) || this.#isOpenOn(link, id);
  }

  /** @returns whether any of them is still being launched */
  async #discoverOn(link: NodeLink, strange: readonly UnendedRun[]): Promise<boolean> {
    // Checked before asking the supervisor: a launcher may end as soon as its run has
    // begun.
    const launching = new Set(strange.filter(isBeingLaunched).map(({ id }) => id));
    const { runs } = await link.request('runs', {});
    const known = new Map(runs.map((run) => [run.run, run]));
    let again = false;
    for (const { id } of strange) {
      const run = known.get(id);
      if (run !== undefined) await this.takeIn(link, run);
      else if (launching.has(id)) again = true;
      else if (this.#isOpenOn(link, id)) this.lose(id);
    }
    return again;
  }

  /** Whether neither the run nor its journal on this node has ended. */
  #isOpenOn({ name }: NodeLink, id: string): boolean {
    return (
      !hasEnded(this.#store.summary(id).state) &&
      this.#store.openJournals(id).open.includes(name)
    );
  }

  /**
   * Whether a run is on a machine, by what is stored of the run: nothing that another machine
   * says of it counts. It need not lie: two entries may lead to one machine.
   */
  isOn(link: NodeLink, run: string): boolean {
    return this.#store.has(run) && nodesOf(this.#store.spec(run)).includes(link.name);
  }

  /** Follows a supervisor's run, and adds its row if missing. */
  async takeIn(link: NodeLink, supervised: RunStatus): Promise<void> {
    const { run, createdAt, phase, lastSequence } = supervised;
    if (this.#store.space.isPurged(run)) {
      // The user threw it away: the machine need not keep it either.
      if (phase === 'ended') this.#followers.acknowledge(link, run, lastSequence);
      return;
    }
    if (!this.#store.has(run)) {
      // It belongs to another computer's app, which has the journals of its other
      // nodes.
      if (link !== this.#nodes.lead) return;
      if (!nodesOf(supervised.spec).includes(link.name)) return;
      this.#options.changed(
        this.#store.create({ id: run, spec: supervised.spec, switches: [], createdAt }),
      );
    }
    if (!this.isOn(link, run)) return;
    const spec = this.#store.spec(run);
    const stored = this.#store.journalPosition(run, link.name);
    // It was called lost while this machine was out of reach.
    const isNews = phase !== 'ended' || stored < lastSequence;
    if (isNews && this.#store.reopen(run)) {
      this.#options.changed(this.#store.summary(run));
    }
    const isOver =
      hasEnded(this.#store.summary(run).state) && nodesOf(spec).length === 1;
    // A damaged journal may be shorter than what is stored, which lacks its end.
    const isOpen = this.#store.openJournals(run).open.includes(link.name);
    if (!isOver && (phase !== 'ended' || stored < lastSequence || isOpen)) {
      await this.#followers.follow(link, run);
      if (phase === 'ended') this.#followers.ended(link, supervised);
      if (phase !== 'ended')
        await relayMissed(this.#nodes.of(this.#store.spec(run)), run);
      if (phase === 'interrupted') this.#options.interrupted(run);
    } else if (phase === 'ended' && (isOver || stored >= lastSequence)) {
      // Without an acknowledgement the journal would stay forever.
      this.#followers.acknowledge(link, run, lastSequence);
    }
  }

  /** Follows the runs of a reconnected node again, or all of its runs in that scope. */
  async synchronise(
    link: NodeLink,
    everything = this.#options.scope === 'all',
  ): Promise<void> {
    const followed = this.#interruptedOn(link);
    for (const id of this.#followers.ids(link)) followed.add(id);
    // Without an answer the runs stay as they are, and this is retried.
    const { runs } = await link.request('runs', {});
    this.#followers.dropAll(link);
    for (const run of runs) {
      if (!everything && !followed.has(run.run)) continue;
      try {
        await this.takeIn(link, run);
      } catch (error) {
        if (link.connection === undefined) throw error;
        this.#options.trouble(error); // an error of this run: the others continue
      }
    }
    // Another process stored its end and forgot it while this link was down.
    for (const id of followed) {
      if (this.#followers.has(id) || !this.#store.has(id)) continue;
      if (hasEnded(this.#store.summary(id).state)) {
        this.#followers.tellRest(id);
      }
    }
    const known = new Set(runs.map(({ run }) => run));
    for (const run of this.#store.runs.unended()) {
      const relevant =
        (everything || followed.has(run.id)) && this.#isOpenOn(link, run.id);
      // A run that another process is about to start is not lost.
      if (relevant && !isBeingLaunched(run) && !known.has(run.id)) this.lose(run.id);
    }
    if (everything) {
      for (const { run, node } of this.#store.missingJournals()) {
        if (node === link.name && !known.has(run)) this.#store.closeJournal(run, node);
      }
    }
    followed.clear();
  }

  /**
   * Asks the machines of a run that was presumed lost whether they have it; if one does, its
   * record is corrected.
   * @returns whether it was
   */
  async revive(id: string): Promise<boolean> {
    if (!this.#store.isPresumedLost(id)) return false;
    const names = nodesOf(this.#store.spec(id)).filter((node) => this.#nodes.has(node));
    let found = false;
    for (const link of this.#linksTo(names)) {
      try {
        const connection = await link.find();
        const { runs } = (await connection?.request('runs', {})) ?? { runs: [] };
        const isThere = runs.some(({ run }) => run === id);
        found = (isThere && this.#store.reopen(id)) || found;
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
        this.#options.linkTrouble(link, error.toData());
      }
    }
    if (found) this.#options.changed(this.#store.summary(id));
    return found;
  }

  /** Fails a run that its supervisors do not know. */
  lose(id: string): void {
    const error = failure(
      'RUN_LOST',
      `the supervisor does not know run ${id}: the run ended, and its last records are lost`,
      {
        next: `Stored records are kept. Launch it again: gradwire runs relaunch ${id}.`,
      },
    );
    this.#options.changed(this.#store.fail(id, error.toData(), Date.now()));
  }

  /** A machine did not answer when a run there was to be followed: it is, once it answers. */
  followLater(link: NodeLink, id: string, error: ErrorData): void {
    this.#interruptedOn(link).add(id);
    // The link itself reports that it does not try again.
    if (!isRefusal(error.code)) this.#options.linkTrouble(link, error);
    link.takeOver(error);
  }

  #interruptedOn({ name }: NodeLink): Set<string> {
    let interrupted = this.#interrupted.get(name);
    if (interrupted === undefined) {
      interrupted = new Set();
      this.#interrupted.set(name, interrupted);
    }
    return interrupted;
  }

  /** The links to the nodes of these names, each once; reports unknown names. */
  #linksTo(names: readonly string[]): readonly NodeLink[] {
    return [...new Set(names)].flatMap((name) => {
      try {
        return [this.#nodes.named(name)];
      } catch (error) {
        this.#options.trouble(error);
        return [];
      }
    });
  }
}

/** Whether this or another process is about to start it. */
export function isBeingLaunched({ starting, launcher }: UnendedRun): boolean {
  return starting && launcher !== undefined && isAlive(launcher);
}
