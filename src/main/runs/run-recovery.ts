/**
 * Handles runs that continued without being followed: after a start, after a lost
 * connection, or because another process launched them. Runs that have not ended in the
 * store are followed again, or failed if no supervisor knows them.
 */
import {
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import { withinList } from '../cluster/list-patience.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { isRefusal } from '../cluster/reconnection.ts';
import type { UnendedRun } from '../store/run-list.ts';
import { isBeingLaunched } from './being-launched.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { mendDamaged } from './damaged-runs.ts';
import { acknowledge } from './journal-follower.ts';
import { relayMissed } from './other-nodes.ts';
import { heldElsewhere, runLost } from './runs-elsewhere.ts';
import { WaitingRuns } from './waiting-runs.ts';

/** Errors of machines whose runs are waited for. */
const WAITED_FOR = new Set(['SSH_UNREACHABLE', 'HOME_HELD_ELSEWHERE']);

export class RunRecovery {
  readonly #parts: CoordinatorParts;
  /**
   * Runs that were followed when a node's connection was lost, or were to be, until they are
   * followed again.
   */
  readonly #interrupted = new WaitingRuns();
  /** Runs whose launch here has ended without an answer. */
  readonly #handedOver = new Set<string>();

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /**
   * Whether the connection to a node is needed: for a run there, or records of one that are
   * not stored yet. The app always needs the leading node's.
   */
  needs(link: NodeLink): boolean {
    if (this.follows(link)) return true;
    if (this.#parts.scope !== 'all') return false;
    return link === this.#parts.nodes.lead || this.#awaits(link.name);
  }

  #awaits(name: string): boolean {
    try {
      return (
        this.#parts.store.runs.unended().some(({ nodes }) => nodes.includes(name)) ||
        this.#parts.store.journals.missing().some(({ node }) => node === name)
      );
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      // While the store cannot be read, no machine is given up.
      return true;
    }
  }

  /** Whether runs are followed there, or were when its connection was lost. */
  follows(link: NodeLink): boolean {
    return this.#parts.followers.ids(link).length + this.#interrupted.on(link).size > 0;
  }

  /**
   * Catches up with runs that were not followed: runs that have not ended in the store
   * are followed again, or failed where the supervisor does not know them; runs that
   * only the supervisor knows are added. Resolves when all journals have been caught
   * up. If no run is open and no supervisor runs, none is started; nor if nothing can be stored.
   */
  async recover(): Promise<void> {
    // What machines have cannot be stored, and on a read-only disk no supervisor starts.
    if (this.#parts.store.readOnly !== undefined) return;
    // Runs of machines that do not answer stay damaged, as the list says.
    await mendDamaged(this.#parts.store.damaged, this.#parts.nodes);
    const unended = this.#parts.store.runs.unended();
    await this.#recoverNode(this.#parts.nodes.lead, unended.length > 0);
    const elsewhere = new Set(unended.flatMap(({ nodes }) => nodes));
    if (this.#parts.scope === 'all') {
      for (const { node } of this.#parts.store.journals.missing()) {
        // A removed machine can provide nothing more.
        if (this.#parts.nodes.has(node)) elsewhere.add(node);
      }
    }
    elsewhere.delete(this.#parts.nodes.lead.name);
    // Unreachable nodes must not keep other records from being shown.
    await Promise.all(
      this.#linksTo([...elsewhere]).map(async (link) => {
        try {
          if (this.#parts.scope === 'all') await this.#recoverNode(link, true);
          else
            await withinList(link.name, (signal) =>
              this.#recoverNode(link, true, signal),
            );
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          if (this.#parts.scope === 'all') {
            this.#parts.news.linkTrouble(link, error.toData());
            if (WAITED_FOR.has(error.code)) link.takeOver(error.toData());
          }
        }
      }),
    );
    await this.#parts.followers.caughtUp();
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
    const unended = this.#parts.store.runs.unended();
    this.#forgetEnded(unended);
    let again = false;
    for (const link of this.#linksTo(unended.flatMap(({ nodes }) => nodes))) {
      const here = unended.filter((run) => this.#isStrange(run, link));
      if (here.length === 0) continue;
      const isUntried =
        !isRepeated &&
        here.some(
          ({ id }) =>
            !this.#parts.followers.has(id) && !this.#interrupted.wasTried(link, id),
        );
      if (
        link.connection === undefined &&
        link !== this.#parts.nodes.lead &&
        !isUntried
      ) {
        continue;
      }
      try {
        await link.connect({ interactive: false });
        again = (await this.#discoverOn(link, here)) || again;
      } catch (error) {
        const data = toErrorData(error);
        // Only for this node; the others' runs have been found.
        this.#notFound(link, here, data);
        // A node that reconnects is asked then; any other error would occur again.
        again ||= data.code === 'SUPERVISOR_TIMEOUT';
      }
    }
    return again;
  }

  /** Handles a machine that did not say which of these runs it has. */
  #notFound(link: NodeLink, runs: readonly UnendedRun[], error: ErrorData): void {
    if (link === this.#parts.nodes.lead) {
      this.#parts.news.linkTrouble(link, error);
      return;
    }
    for (const { id } of runs) this.#interrupted.noteTried(link, id);
    this.#leaveTo(link, error);
  }

  /** Forgets runs that ended without ever being followed: no machine is needed for them. */
  #forgetEnded(unended: readonly UnendedRun[]): void {
    const open = new Set(unended.map(({ id }) => id));
    this.#interrupted.forget(
      (id) => !open.has(id) && this.#parts.news.lastTold(id) === undefined,
    );
  }

  /**
   * Whether its journal on the node should be followed and is not: supervisors learn of a run
   * one after the other.
   */
  #isStrange({ id, nodes }: UnendedRun, link: NodeLink): boolean {
    if (!nodes.includes(link.name) || this.#parts.followers.has(id, link)) return false;
    return !this.#parts.followers.has(id) || this.#isOpenOn(link, id);
  }

  /** @returns whether any of them is still being launched */
  async #discoverOn(link: NodeLink, strange: readonly UnendedRun[]): Promise<boolean> {
    // Checked before asking the supervisor: a launcher may end as soon as its run has
    // begun.
    const launching = this.#launching(strange);
    const { runs } = await link.request('runs', {});
    const known = new Map(runs.map((run) => [run.run, run]));
    let again = false;
    const unknown: string[] = [];
    for (const { id } of strange) {
      const run = known.get(id);
      if (run !== undefined) await this.takeIn(link, run);
      else if (launching.has(id)) again = true;
      // One that waits for this machine is left to its link.
      else if (!this.#interrupted.on(link).has(id)) unknown.push(id);
    }
    await this.#loseOn(link, unknown);
    return again;
  }

  /** Whether neither the run nor its journal on this node has ended. */
  #isOpenOn({ name }: NodeLink, id: string): boolean {
    return (
      !hasEnded(this.#parts.store.summary(id).state) &&
      this.#parts.store.journals.isOpen(id, name)
    );
  }

  /**
   * Whether a run is on a machine, by what is stored of the run: nothing that another machine
   * says of it counts. It need not lie: two entries may lead to one machine.
   */
  isOn(link: NodeLink, run: string): boolean {
    return (
      this.#parts.store.has(run) &&
      nodesOf(this.#parts.store.spec(run)).includes(link.name)
    );
  }

  /** Follows a supervisor's run, and adds its row if missing. */
  async takeIn(link: NodeLink, supervised: RunStatus): Promise<void> {
    const { run, createdAt, phase, lastSequence } = supervised;
    if (this.#parts.store.space.isPurged(run)) {
      // The user threw it away: the machine need not keep it either.
      if (phase === 'ended') acknowledge(link, run, lastSequence);
      return;
    }
    if (!this.#parts.store.has(run)) {
      // It belongs to another computer's app, which has the journals of its other
      // nodes.
      if (link !== this.#parts.nodes.lead) return;
      if (!nodesOf(supervised.spec).includes(link.name)) return;
      this.#parts.news.changed(
        this.#parts.store.create({
          id: run,
          spec: supervised.spec,
          switches: [],
          createdAt,
        }),
      );
    }
    if (!this.isOn(link, run)) return;
    const spec = this.#parts.store.spec(run);
    const stored = this.#parts.store.journals.position(run, link.name);
    // It was called lost while this machine was out of reach.
    const isNews = phase !== 'ended' || stored < lastSequence;
    if (isNews && this.#parts.store.presumed.reopen(run)) {
      this.#parts.news.changed(this.#parts.store.summary(run));
    }
    const isOver =
      hasEnded(this.#parts.store.summary(run).state) && nodesOf(spec).length === 1;
    // A damaged journal may be shorter than what is stored, which lacks its end.
    const isOpen = this.#parts.store.journals.isOpen(run, link.name);
    if (!isOver && (phase !== 'ended' || stored < lastSequence || isOpen)) {
      await this.#parts.followers.follow(link, run);
      if (phase === 'ended') this.#parts.followers.ended(link, supervised);
      if (phase !== 'ended')
        await relayMissed(this.#parts.nodes.of(this.#parts.store.spec(run)), run);
      if (phase === 'interrupted') this.#parts.news.interrupted(run);
    } else if (phase === 'ended' && (isOver || stored >= lastSequence)) {
      // Without an acknowledgement the journal would stay forever.
      acknowledge(link, run, lastSequence);
    }
  }

  /** Follows the runs of a reconnected node again, or all of its runs in that scope. */
  async synchronise(
    link: NodeLink,
    everything = this.#parts.scope === 'all',
  ): Promise<void> {
    const followed = this.#interrupted.on(link);
    for (const id of this.#parts.followers.ids(link)) followed.add(id);
    // Read before the supervisor is asked: it cannot know what is launched meanwhile.
    const unended = this.#parts.store.runs.unended();
    const launching = this.#launching(unended);
    // Without an answer the runs stay as they are, and this is retried.
    const { runs } = await link.request('runs', {});
    this.#parts.followers.dropAll(link);
    for (const run of runs) {
      if (!everything && !followed.has(run.run)) continue;
      try {
        await this.takeIn(link, run);
      } catch (error) {
        if (link.connection === undefined) throw error;
        this.#parts.news.trouble(error); // an error of this run: the others continue
      }
    }
    // Another process stored its end and forgot it while this link was down.
    for (const id of followed) {
      if (this.#parts.followers.has(id) || !this.#parts.store.has(id)) continue;
      if (hasEnded(this.#parts.store.summary(id).state)) {
        this.#parts.news.tellRest(id);
      }
    }
    const known = new Set(runs.map(({ run }) => run));
    // A run that another process is about to start is not lost.
    const unknown = unended
      .map(({ id }) => id)
      .filter((id) => !known.has(id) && !launching.has(id))
      .filter((id) => (everything || followed.has(id)) && this.#parts.store.has(id));
    const missing = everything ? this.#missingOf(link, known) : [];
    const elsewhere = await link.elsewhere(missing);
    for (const run of missing) {
      if (!elsewhere.has(run)) this.#parts.store.journals.close(run, link.name);
    }
    followed.clear();
    await this.#loseOn(link, unknown);
  }

  /** Returns the runs whose records a machine should have, and which it does not know. */
  #missingOf({ name }: NodeLink, known: ReadonlySet<string>): readonly string[] {
    const missing = this.#parts.store.journals.missing();
    const own = missing.filter(({ node }) => node === name).map(({ run }) => run);
    return own.filter((run) => !known.has(run));
  }

  /**
   * Fails the runs that a machine's supervisor does not know. A name may lead to several login
   * nodes with one home: runs of another one are waited for.
   * @throws GradwireError `HOME_HELD_ELSEWHERE`: such a run is in progress
   */
  async #loseOn(link: NodeLink, unknown: readonly string[]): Promise<void> {
    const open = unknown.filter((id) => this.#isOpenOn(link, id));
    const waiting = this.#interrupted.on(link);
    // The search may fail: then they are looked for again.
    for (const id of open) waiting.add(id);
    const elsewhere = await link.elsewhere(open);
    for (const id of open) {
      if (elsewhere.has(id)) continue;
      waiting.delete(id);
      if (this.#isOpenOn(link, id)) this.lose(id);
    }
    const [first] = elsewhere;
    if (first === undefined) return;
    const error = heldElsewhere(link, first);
    const { followers, launches } = this.#parts;
    const uses = [...followers.ids(link), ...launches.startingOn(link.name)];
    // The next connection may be to the right one.
    if (uses.length === 0) await link.leave();
    throw error;
  }

  /** Fails a run that its supervisors do not know. */
  lose(id: string): void {
    const error = runLost(id).toData();
    this.#parts.news.changed(this.#parts.store.fail(id, error, Date.now()));
  }

  /** A machine did not answer when a run there was to be followed: it is, once it answers. */
  followLater(link: NodeLink, id: string, error: ErrorData): void {
    this.#interrupted.on(link).add(id);
    this.#leaveTo(link, error);
  }

  /** Nobody here launches the run any longer; whether the machine has taken it is seen later. */
  handOver(link: NodeLink, id: string, error: ErrorData): void {
    this.#handedOver.add(id);
    this.followLater(link, id, error);
  }

  #launching(runs: readonly UnendedRun[]): ReadonlySet<string> {
    const ours = runs.filter(({ id }) => !this.#handedOver.has(id));
    return new Set(ours.filter(isBeingLaunched).map(({ id }) => id));
  }

  /** Leaves further attempts to the link, which makes them within its limits. */
  #leaveTo(link: NodeLink, error: ErrorData): void {
    // The link itself reports that it does not try again.
    if (!isRefusal(error.code)) this.#parts.news.linkTrouble(link, error);
    link.takeOver(error);
  }

  /** The links to the nodes of these names, each once; reports unknown names. */
  #linksTo(names: readonly string[]): readonly NodeLink[] {
    return [...new Set(names)].flatMap((name) => {
      try {
        return [this.#parts.nodes.named(name)];
      } catch (error) {
        this.#parts.news.trouble(error);
        return [];
      }
    });
  }
}
