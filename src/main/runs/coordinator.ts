/**
 * The run coordinator: launches runs on supervisors, follows them, and stores their
 * records. A record is acknowledged only after it is committed, and after any
 * interruption a run is followed from the last stored record, so nothing is lost or
 * stored twice, whichever process is killed.
 */
import type { AnswerTo, AskedType, OrderOf } from '../../shared/orders/orders.ts';
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import type { CatchUp } from '../../shared/records/catch-up.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import {
  failure,
  GradwireError,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import type { NodeConnection } from '../../shared/machines/node-status.ts';
import type {
  PushMessage,
  RunStatus,
  SwitchRequest,
} from '../../shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/rpc.ts';
import { checkSlurmRun } from '../../shared/spec/slurm-share.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { NodeSet, type NodeDirectory } from '../cluster/node-set.ts';
import type { RunStore } from '../store/run-store.ts';
import { mendDamaged } from './damaged-runs.ts';
import { LostMachines } from './lost-machines.ts';
import { relaunched } from './relaunched.ts';
import { RunEndings } from './run-endings.ts';
import { RunFollowers } from './run-followers.ts';
import { newRunId } from './run-id.ts';
import { RunOrders } from './run-orders.ts';
import { isBeingLaunched, RunRecovery } from './run-recovery.ts';
import { RunRestarts, type ResumePoint } from './run-restarts.ts';
import { READ_MS, settleFailedStart, startRanks } from './run-start.ts';
import { RunStops } from './run-stops.ts';
import { RunTunnels } from './run-tunnels.ts';

export interface CoordinatorEvents {
  /** A run was created, or its state or counters changed. */
  changed(summary: RunSummary): void;
  /** Newly stored records, in order, each once. */
  records(run: string, entries: readonly JournalEntry[]): void;
  /** An error that no caller waits for. */
  notice(error: ErrorData): void;
  /** A machine cannot be reached now. It is retried while a run needs it. */
  outOfReach(node: string, error: ErrorData): void;
  /**
   * A connected machine gives no sign of life, which ends no run; without an error: it does
   * again.
   */
  silent?(node: string, error: ErrorData | undefined): void;
  /**
   * Many records were read that were made while this process did not follow the run.
   */
  caughtUp?(catchUp: CatchUp): void;
  /** The connection to a node was established or lost. */
  nodeChanged?(node: string): void;
}

export interface CoordinatorOptions {
  readonly store: RunStore;
  /** All nodes; a run's first node leads it and owns its plan switches. */
  readonly nodes: NodeDirectory;
  readonly events: CoordinatorEvents;
  /** `all`: follow every run that a supervisor has. `own`: only those requested. */
  readonly scope: 'all' | 'own';
  /** Whether, with scope `own`, the user may be asked for a log-in when a link was lost. */
  readonly mayAsk?: boolean | undefined;
  /** The measured network, read again for every run; default: none. */
  readonly networkProfile?: () => Promise<NetworkProfile | undefined>;
}

/** Most time for a supervisor to say what it has when this process is about to end. */
const LAST_LOOK_MS = 3000;

export class RunCoordinator {
  readonly #store: RunStore;
  readonly #events: CoordinatorEvents;
  readonly #scope: 'all' | 'own';
  readonly #nodes: NodeSet;
  readonly #followers: RunFollowers;
  readonly #networkProfile: () => Promise<NetworkProfile | undefined>;
  readonly #recovery: RunRecovery;
  readonly #restarts: RunRestarts;
  /** Runs requested by name, until they end. */
  readonly #kept = new Set<string>();
  readonly #stops = new RunStops();
  readonly #orders: RunOrders;
  readonly #lost: LostMachines;
  readonly #endings: RunEndings;
  readonly #tunnels = new RunTunnels();
  #closed = false;

  constructor(options: CoordinatorOptions) {
    this.#store = options.store;
    this.#events = options.events;
    this.#scope = options.scope;
    this.#networkProfile = options.networkProfile ?? (() => Promise.resolve(undefined));
    this.#followers = new RunFollowers(options.store, {
      stored: (summary, entries) => {
        this.#changed(summary);
        if (entries.length > 0) this.#events.records(summary.id, entries);
        if (this.#closed || hasEnded(summary.state)) return;
        this.#endings.awaitJournals(summary.id);
        this.#lost.considerUntold(summary.id);
      },
      refused: ({ id }) => {
        // Later events of the old link are ignored.
        this.order(id, { type: 'stop' }).catch((error: unknown) => {
          this.#trouble(error);
        });
      },
      caughtUp: (catchUp) => {
        if (!this.#closed) this.#events.caughtUp?.(catchUp);
      },
      trouble: (error) => {
        this.#trouble(error);
      },
    });
    this.#endings = new RunEndings({
      store: options.store,
      linksOf: (run) => this.#linksOf(run),
      endEarly: (run) => {
        this.#followers.endEarly(run);
      },
      endedElsewhere: (run) => {
        this.#followers.tellRest(run);
      },
      trouble: (error) => {
        this.#trouble(error);
      },
    });
    this.#lost = new LostMachines({
      store: options.store,
      followers: this.#followers,
      endings: this.#endings,
      scope: options.scope,
      mayAsk: options.mayAsk === true,
      needs: (link) => this.#recovery.needs(link),
      trouble: (link, error) => {
        this.#linkTrouble(link, error);
      },
      look: () => {
        this.#nodes.look();
      },
    });
    this.#nodes = new NodeSet(options.nodes, (link) => ({
      push: (message) => {
        this.#receive(link(), message);
      },
      restored: () => {
        this.#lost.answers(link());
        return this.#recovery.synchronise(link());
      },
      attempts: () => this.#lost.attempts(link()),
      followed: () => this.#recovery.follows(link()),
      patience: () => this.#lost.patience(link()),
      gaveUp: (error) => {
        if (!this.#closed) this.#lost.gaveUp(link(), error);
      },
      trouble: (error) => {
        if (this.#recovery.needs(link())) this.#linkTrouble(link(), error);
        // Another process may have changed the machine's route.
        this.#nodes.look();
      },
      silent: (error) => {
        if (error === undefined) this.#lost.answers(link());
        else this.#stops.silent(link(), error);
        if (!this.#closed) this.#events.silent?.(link().name, error);
      },
      look: () => {
        this.#nodes.look();
      },
      changed: () => {
        this.#events.nodeChanged?.(link().name);
      },
    }));
    this.#recovery = new RunRecovery({
      store: options.store,
      nodes: this.#nodes,
      followers: this.#followers,
      scope: options.scope,
      changed: (summary) => {
        this.#changed(summary);
      },
      trouble: (error) => {
        this.#trouble(error);
      },
      linkTrouble: (link, error) => {
        this.#linkTrouble(link, error);
      },
      interrupted: (run) => {
        this.#considerRestart(run);
      },
    });
    this.#orders = new RunOrders({
      store: options.store,
      stops: this.#stops,
      linksOf: (run) => this.#linksOf(run),
      linkTrouble: (link, error) => {
        this.#linkTrouble(link, error);
      },
    });
    this.#restarts = new RunRestarts({
      linksOf: (run) => this.#linksOf(run),
      start: (run, resume) => this.#start(run, resume),
      trouble: (error) => {
        this.#trouble(error);
      },
    });
  }

  /** The catalogue of the leading node's agent. */
  async catalogue(): Promise<Catalogue> {
    return (await this.#nodes.lead.connectToLaunch()).hello.catalogue;
  }

  /** The process of this computer's supervisor, if connected. */
  supervisor(): number | undefined {
    return this.#nodes.lead.connection?.hello.pid;
  }

  /**
   * The link to a node, which all runs share.
   * @throws GradwireError `NODE_UNKNOWN`
   */
  node(name: string): NodeLink {
    return this.#nodes.named(name);
  }

  /** Handles machines that have been changed or removed. */
  lookAtNodes(): void {
    this.#nodes.look();
  }

  /** The runs that a connected node has, whoever started them; undefined if it is not connected. */
  async runsOn(node: string): Promise<readonly RunStatus[] | undefined> {
    return (await this.#nodes.made(node)?.connection?.request('runs', {}))?.runs;
  }

  /** The state of the connection to a node. */
  nodeConnection(node: string): NodeConnection {
    return this.#nodes.made(node)?.state ?? { connection: 'idle' };
  }

  /** A machine has been reached in another way: what it runs is followed again. */
  async reached(node: string): Promise<void> {
    const link = this.#nodes.made(node);
    if (link?.state.connection !== 'unreachable') return;
    link.reached();
    const found = await link.find({ interactive: false });
    if (found !== undefined) await this.#recovery.synchronise(link);
  }

  /** Measures the round trips of the live connections to machines. */
  async measureRoundTrips(): Promise<void> {
    const remote = [...this.#nodes].filter((link) => link !== this.#nodes.lead);
    await Promise.all(remote.map((link) => link.measureRoundTrip()));
  }

  /**
   * The spec as it would run: structure, nodes, and every name and parameter checked by
   * the agent. @throws GradwireError of kind input
   */
  async validate(
    raw: unknown,
    switches: readonly SwitchRequest[] = [],
    place?: string,
  ): Promise<ExperimentSpec> {
    const spec = parseExperimentSpec(raw, place);
    for (const name of spec.world.nodes) this.#nodes.named(name, 'world.nodes');
    const { nodes, ranks } = spec.world;
    if (nodes.length > ranks) {
      throw inputError(
        'NODES_IDLE',
        `${nodes.length} machines for ${ranks === 1 ? 'one rank' : `${ranks} ranks`}`,
        { place: 'world.nodes', next: 'Name fewer machines, or raise world.ranks.' },
      );
    }
    const [lead, ...others] = this.#nodes.of(spec);
    assertAlone([lead, ...others]);
    if (lead.slurm !== undefined) checkSlurmRun(spec, lead.slurm);
    return (await lead.request('validate', { spec, switches }, READ_MS)).spec;
  }

  /** Validates and starts a run. Resolves when its first iteration begins. */
  async launch(
    raw: unknown,
    switches: readonly SwitchRequest[] = [],
  ): Promise<RunSummary> {
    const { id } = await this.create(raw, switches);
    return this.begin(id);
  }

  /** Validates a run and stores its row; `begin` starts it. */
  async create(
    raw: unknown,
    switches: readonly SwitchRequest[] = [],
    place?: string,
  ): Promise<RunSummary> {
    const spec = await this.validate(raw, switches, place);
    const summary = this.#store.create({
      id: newRunId(),
      spec,
      switches,
      createdAt: Date.now(),
      launcher: process.pid,
    });
    this.#events.changed(summary);
    return summary;
  }

  /**
   * Starts the ranks of a created run. If that fails, the run is stored as failed.
   * @throws GradwireError the reason why it did not start
   */
  async begin(id: string): Promise<RunSummary> {
    this.#kept.add(id);
    const links = this.#linksOf(id);
    try {
      await this.#stops.starting(id, (signal) => this.#start(id, undefined, signal));
      return this.#store.summary(id);
    } catch (thrown) {
      const reason = toErrorData(thrown);
      await settleFailedStart(this.#followers, links, id, reason, this.ended(id));
      this.#changed(this.#store.fail(id, reason, Date.now()));
      throw thrown;
    }
  }

  async #start(id: string, resume?: ResumePoint, signal?: AbortSignal): Promise<void> {
    await startRanks(id, {
      store: this.#store,
      followers: this.#followers,
      tunnels: this.#tunnels,
      links: this.#linksOf(id),
      profile: await this.#networkProfile(),
      resume,
      signal,
    });
  }

  /** Launches the same spec with the same switches, as they happened. */
  async relaunch(id: string): Promise<RunSummary> {
    const { spec, switches } = relaunched(this.#store, id, await this.catalogue());
    return this.launch(spec, switches);
  }

  /**
   * The switches of a run, as they happened and as it was launched with.
   * @throws GradwireError `RUN_UNKNOWN`
   */
  async switchesOf(id: string): Promise<readonly SwitchRequest[]> {
    return relaunched(this.#store, id, await this.catalogue()).switches;
  }

  /**
   * Gives an order to a run. A stop of a run that has ended does nothing.
   * @param received called when a stop is known to have reached its machine
   * @throws GradwireError `RUN_ENDED`; what is wrong with the order, before any rank is told
   */
  order<T extends AskedType>(
    id: string,
    order: OrderOf<T>,
    received?: () => void,
  ): Promise<AnswerTo<T>> {
    return this.#orders.give(id, order, received);
  }

  /**
   * Ends a run at once on every node that can be reached, and stores it as failed. Ranks on
   * the others end when they miss their peers; if they have none elsewhere, they go on.
   * @returns the nodes that were not reached
   */
  async abandon(id: string, error: ErrorData): Promise<readonly string[]> {
    const missed: string[] = [];
    await Promise.all(
      this.#linksOf(id).map(async (link) => {
        try {
          // Connects without deploying or starting anything.
          const found = await link.find({ interactive: false });
          await found?.request('abort', { run: id, error });
        } catch (failed) {
          if (!(failed instanceof GradwireError)) throw failed;
          // Known there, but ended: nothing is left to end.
          if (failed.code !== 'RUN_UNKNOWN') missed.push(link.name);
        }
      }),
    );
    this.#changed(this.#store.fail(id, error, Date.now()));
    return missed;
  }

  /** Reconnects to a node that refused a log-in, if runs there are followed. */
  resume(node: string): void {
    this.#nodes.made(node)?.resume();
  }

  /** Disconnects from a node; its records are read when its runs are followed again. */
  async release(node: string): Promise<void> {
    await this.#nodes.drop(node);
  }

  /**
   * Reads a node's remaining records of runs that have ended without it.
   * @throws GradwireError if it cannot be reached
   */
  async collect(node: string): Promise<void> {
    if (!this.#store.missingJournals().some((missing) => missing.node === node)) return;
    const link = this.#nodes.named(node);
    await link.connect();
    await this.#recovery.synchronise(link, true);
    await this.#followers.caughtUp();
  }

  /**
   * Reads the records that an ended run lacks.
   * @throws GradwireError of the first machine that cannot be reached
   */
  async fetchMissing(id: string): Promise<void> {
    try {
      for (const node of this.#store.summary(id).missing ?? [])
        await this.collect(node);
    } finally {
      this.#changed(this.#store.summary(id));
    }
  }

  /** Follows a live run until it ends; for an ended run, reads missing records. */
  async follow(id: string, { keep = true } = {}): Promise<void> {
    if (keep) this.#kept.add(id);
    const silent = await mendDamaged(this.#store.damaged, this.#nodes, id);
    if (silent !== undefined) throw silent;
    const isOver = hasEnded(this.#store.summary(id).state);
    if (isOver && !(await this.#recovery.revive(id))) {
      const missing = this.#store.missingJournals().filter(({ run }) => run === id);
      for (const { node } of missing) {
        try {
          await this.collect(node);
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          // The stored part can still be shown.
          this.#events.outOfReach(node, error.toData());
        }
      }
      return;
    }
    const { open } = this.#store.openJournals(id);
    const links = this.#linksOf(id).filter(({ name }) => open.includes(name));
    const errors = new Map<NodeLink, GradwireError>();
    const found = await Promise.all(
      links.map(async (link) => {
        try {
          return await this.#followOn(link, id);
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          errors.set(link, error);
          return false;
        }
      }),
    );
    const [first] = errors.values();
    if (found.includes(true)) {
      // The other nodes' records are still worth following.
      for (const [link, error] of errors) {
        this.#recovery.followLater(link, id, error.toData());
      }
      return;
    }
    if (first !== undefined) throw first;
    const run = this.#store.runs.unended().find((candidate) => candidate.id === id);
    // It has ended meanwhile, and another process has stored its end.
    if (run === undefined) this.#changed(this.#store.summary(id));
    else if (isBeingLaunched(run)) {
      throw failure('RUN_STARTING', `run ${id} has not started yet`, {
        next: 'Try again in a moment.',
      });
    } else this.#recovery.lose(id);
  }

  /** Follows the run on the node; returns whether the node has it. */
  async #followOn(link: NodeLink, id: string): Promise<boolean> {
    const { runs } = await link.request('runs', {});
    if (!runs.some(({ run }) => run === id)) return false;
    await this.#followers.follow(link, id);
    return true;
  }

  /**
   * Resolves with the run once it has ended and everything is stored.
   * @throws GradwireError `RUN_UNFOLLOWED` (rejects): a command has given up its machines
   */
  ended(id: string): Promise<RunSummary> {
    const ended = this.#endings.of(id);
    this.#lost.considerLeaving(id);
    return ended;
  }

  /**
   * Catches up with runs that were not followed: runs that have not ended in the store are
   * followed again, or failed where the supervisor does not know them; runs that only the
   * supervisor knows are added. Resolves when all journals have been caught up. If no run
   * is open and no supervisor runs, none is started.
   */
  async recover(): Promise<void> {
    await this.#recovery.recover();
  }

  /**
   * Follows runs that other processes have launched and added to the store.
   * @param isRepeated whether this is a repeated check
   * @returns whether to check again soon, because some are still being launched
   */
  discover(isRepeated: boolean): Promise<boolean> {
    return this.#recovery.discover(isRepeated);
  }

  /** Whether this computer's supervisor is connected and has a run in progress. */
  async hasLiveRuns(): Promise<boolean> {
    const { connection, state } = this.#nodes.lead;
    // One that does not answer now is not asked what it has.
    if (state.silence !== undefined) return true;
    const reply = await connection?.request('runs', {}, LAST_LOOK_MS);
    return reply?.runs.some(({ phase }) => phase !== 'ended') ?? false;
  }

  /**
   * Stores records that have arrived and disconnects from the supervisors. Runs
   * continue.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endings.close();
    this.#restarts.close();
    this.#tunnels.close();
    this.#followers.close();
    await this.#nodes.close();
  }

  /** The links to the nodes with ranks of a run, the leading one first. */
  #linksOf(id: string): readonly [NodeLink, ...NodeLink[]] {
    return this.#nodes.of(this.#store.spec(id));
  }

  /** A short command would leave it half restarted. */
  #considerRestart(run: string): void {
    this.#lost.interrupted(run);
    if (this.#scope !== 'all' && !this.#kept.has(run)) return;
    this.#restarts.consider(run, this.#store.spec(run));
  }

  #receive(link: NodeLink, message: PushMessage): void {
    if (message.type === 'records') {
      this.#followers.push(link, message.run, message.entries);
      return;
    }
    const { run } = message;
    const isInterrupted = run.phase === 'interrupted';
    if (!isInterrupted && this.#recovery.isOn(link, run.run)) {
      this.#lost.goesOn(run.run);
    }
    if (isInterrupted && this.#followers.has(run.run, link)) {
      this.#considerRestart(run.run);
    }
    if (run.phase === 'ended') this.#followers.ended(link, run);
    if (this.#scope !== 'all' || run.phase === 'ended') return;
    void this.#recovery.takeIn(link, run).catch((error: unknown) => {
      this.#trouble(error);
    });
  }

  #changed(summary: RunSummary): void {
    this.#events.changed(summary);
    this.#endings.note(summary);
    this.#tunnels.note(summary);
  }

  /** Reports a link's failure: this computer's supervisor should always be reachable. */
  #linkTrouble(link: NodeLink, error: ErrorData): void {
    if (this.#closed) return;
    if (link === this.#nodes.lead) this.#events.notice(error);
    else this.#events.outOfReach(link.name, error);
  }

  #trouble(error: unknown): void {
    if (!this.#closed) this.#events.notice(toErrorData(error));
  }
}

/** @throws GradwireError `SLURM_NOT_ALONE`: its nodes are known only when Slurm allocates them */
function assertAlone(links: readonly NodeLink[]): void {
  const cluster = links.find(({ slurm }) => slurm !== undefined);
  if (cluster === undefined || links.length === 1) return;
  throw inputError(
    'SLURM_NOT_ALONE',
    `"${cluster.name}" is a Slurm cluster, which cannot share a run with other machines`,
    { place: 'world.nodes', next: `Name only ${cluster.name}, or remove it.` },
  );
}
