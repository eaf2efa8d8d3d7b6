/**
 * The run coordinator: launches runs on supervisors, follows them, and stores what they
 * record. A record is acknowledged only once it is committed, and after any interruption
 * a run is followed from the last one stored, so that nothing is lost and nothing is
 * stored twice, whichever of the processes involved was killed.
 */
import type { Catalogue } from '../../shared/catalogue.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import {
  failure,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors.ts';
import type { PlanSwitch } from '../../shared/exchange-plan.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/experiment-spec.ts';
import type {
  PushMessage,
  SupervisedRun,
  SwitchRequest,
} from '../../shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../shared/records.ts';
import { hasEnded, type RunSummary } from '../../shared/rpc.ts';
import { isAlive } from '../home/process-life.ts';
import type { RunStore, UnendedRun } from '../store/run-store.ts';
import type { NodeAccess, NodeLink } from '../cluster/node-link.ts';
import { NodeSet } from '../cluster/node-set.ts';
import { RunFollowers } from './run-followers.ts';
import { newRunId } from './run-id.ts';
import { settleFailedStart, startRanks, stopDeadline } from './run-start.ts';
import { scheduleAsItHappened } from './switch-schedule.ts';

export interface CoordinatorEvents {
  /** A run was made, or its state or counters changed. */
  changed(summary: RunSummary): void;
  /** Records that are stored now, in order, each once. */
  records(run: string, entries: readonly JournalEntry[]): void;
  /** Trouble that no caller waits for. */
  notice(error: ErrorData): void;
}

export interface CoordinatorOptions {
  readonly store: RunStore;
  /** The nodes there are; a run's first one leads it and owns its plan switches. */
  readonly nodes: readonly NodeAccess[];
  readonly events: CoordinatorEvents;
  /** `all`: follow every run that a supervisor has. `own`: those asked for. */
  readonly scope: 'all' | 'own';
  /** What was measured of the network, read anew for every run; absent: nothing. */
  readonly networkProfile?: () => Promise<NetworkProfile | undefined>;
}

export class RunCoordinator {
  readonly #store: RunStore;
  readonly #events: CoordinatorEvents;
  readonly #scope: 'all' | 'own';
  readonly #nodes: NodeSet;
  readonly #followers: RunFollowers;
  readonly #networkProfile: () => Promise<NetworkProfile | undefined>;
  /** Runs that were followed when a connection was lost, until they are again. */
  readonly #interrupted = new Set<string>();
  readonly #endings = new Map<string, PromiseWithResolvers<RunSummary>>();
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
      },
      refused: ({ id }) => {
        // What it does from now on counts for nothing.
        this.stop(id).catch((error: unknown) => {
          this.#trouble(error);
        });
      },
      trouble: (error) => {
        this.#trouble(error);
      },
    });
    this.#nodes = new NodeSet(options.nodes, (link) => ({
      push: (message) => {
        this.#receive(link(), message);
      },
      restored: () => this.#synchronise(link()),
      wanted: () =>
        this.#scope === 'all' || this.#followers.size + this.#interrupted.size > 0,
      trouble: (error) => {
        this.#events.notice(error);
      },
    }));
  }

  /** What the leading node's agent can do. */
  async catalogue(): Promise<Catalogue> {
    return (await this.#nodes.lead.connect()).hello.catalogue;
  }

  /** Pids of the supervisors that are connected now. */
  supervisors(): readonly number[] {
    return [...this.#nodes].flatMap((link) => link.connection?.hello.pid ?? []);
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
    const [lead] = this.#nodes.of(spec);
    return (await lead.request('validate', { spec, switches })).spec;
  }

  /** Validates and starts a run. Resolves when its first iteration begins. */
  async launch(
    raw: unknown,
    switches: readonly SwitchRequest[] = [],
  ): Promise<RunSummary> {
    const { id } = await this.create(raw, switches);
    return this.begin(id);
  }

  /** Validates a run and gives it its row; `begin` starts it. */
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
   * Starts the ranks of a created run. When that fails, the run is stored as failed.
   * @throws GradwireError whatever kept it from starting
   */
  async begin(id: string): Promise<RunSummary> {
    const links = this.#nodes.of(this.#store.spec(id));
    try {
      const profile = await this.#networkProfile();
      await startRanks(this.#store, this.#followers, links, id, profile);
      return this.#store.summary(id);
    } catch (thrown) {
      await settleFailedStart(this.#followers, links[0], id, this.ended(id));
      this.#changed(this.#store.fail(id, toErrorData(thrown), Date.now()));
      throw thrown;
    }
  }

  /** The same spec and the same switches, as they happened. */
  async relaunch(id: string): Promise<RunSummary> {
    const detail = this.#store.detail(id);
    const switches = scheduleAsItHappened(detail, this.#store.switches(id));
    return this.launch(detail.spec, switches);
  }

  /** @throws GradwireError what is wrong with the change, before any rank hears of it */
  async switchPlan(id: string, request: SwitchRequest): Promise<PlanSwitch> {
    this.#assertGoingOn(id);
    try {
      const body = { run: id, ...request };
      return (await this.#leadOf(id).request('switch', body)).switch;
    } catch (error) {
      // It may have ended, and been stored to its end, while this was under way.
      this.#assertGoingOn(id);
      throw error;
    }
  }

  /** Ends a run after its current iteration; nothing to do where it has ended. */
  async stop(id: string): Promise<void> {
    if (hasEnded(this.#store.summary(id).state)) return;
    const deadline = stopDeadline(this.#store.spec(id));
    try {
      await this.#leadOf(id).request('stop', { run: id }, deadline);
    } catch (error) {
      // As it should, by itself or because another process asked for it.
      if (!hasEnded(this.#store.summary(id).state)) throw error;
    }
  }

  /** Follows a run that is going on, until it ends. */
  async follow(id: string): Promise<void> {
    if (hasEnded(this.#store.summary(id).state)) return;
    const link = this.#leadOf(id);
    const { runs } = await link.request('runs', {});
    if (runs.some(({ run }) => run === id)) {
      await this.#followers.follow(link, id);
      return;
    }
    const run = this.#store.unended().find((candidate) => candidate.id === id);
    // It has ended in between, and another process has stored its end.
    if (run === undefined) this.#changed(this.#store.summary(id));
    else if (isBeingLaunched(run)) {
      throw failure('RUN_STARTING', `run ${id} has not begun yet`, {
        next: 'Try again in a moment.',
      });
    } else this.#lose(id);
  }

  /** Resolves with the run as it is when it has ended and everything is stored. */
  ended(id: string): Promise<RunSummary> {
    const summary = this.#store.summary(id);
    if (hasEnded(summary.state)) return Promise.resolve(summary);
    let ending = this.#endings.get(id);
    if (ending === undefined) {
      ending = Promise.withResolvers();
      this.#endings.set(id, ending);
    }
    return ending.promise;
  }

  /**
   * Finds what happened while nobody followed: runs that have not ended in the store are
   * followed again, or failed where the supervisor does not know them; runs that only
   * the supervisor knows are taken in. Resolves when all journals have been caught up.
   * Where nothing is open and no supervisor runs, none is started.
   */
  async recover(): Promise<void> {
    for (const link of this.#nodes) {
      if (this.#store.unended().length > 0) await link.connect();
      else if ((await link.find()) === undefined) continue;
      await this.#synchronise(link, true);
    }
    await this.#followers.caughtUp();
  }

  /**
   * Follows runs that have appeared in the store since, launched by another process.
   */
  async discover(): Promise<void> {
    const strange = new Set(
      this.#store
        .unended()
        .map(({ id }) => id)
        .filter((id) => !this.#followers.has(id)),
    );
    if (strange.size === 0) return;
    for (const link of this.#nodes) {
      const { runs } = await link.request('runs', {});
      for (const run of runs) if (strange.has(run.run)) await this.#takeIn(link, run);
    }
  }

  /** Whether a supervisor that is connected now has a run that goes on. */
  async hasLiveRuns(): Promise<boolean> {
    for (const link of this.#nodes) {
      if (link.connection === undefined) continue;
      const { runs } = await link.connection.request('runs', {});
      if (runs.some(({ phase }) => phase !== 'ended')) return true;
    }
    return false;
  }

  /** Stores what has arrived and lets go of the supervisors. Runs go on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#followers.close();
    await this.#nodes.close();
  }

  #assertGoingOn(id: string): void {
    const { state } = this.#store.summary(id);
    if (!hasEnded(state)) return;
    throw inputError('RUN_ENDED', `run ${id} has ended (${state})`, {
      next: 'Launch it again to switch while it runs.',
    });
  }

  #leadOf(id: string): NodeLink {
    return this.#nodes.of(this.#store.spec(id))[0];
  }

  #receive(link: NodeLink, message: PushMessage): void {
    if (message.type === 'records') {
      this.#followers.push(message.run, message.entries);
      return;
    }
    const { run } = message;
    if (this.#scope !== 'all' || run.phase === 'ended') return;
    void this.#takeIn(link, run).catch((error: unknown) => {
      this.#trouble(error);
    });
  }

  /** Follows a run that a supervisor has, and gives it a row where it has none. */
  async #takeIn(link: NodeLink, supervised: SupervisedRun): Promise<void> {
    const { run, spec, createdAt, phase, lastSequence } = supervised;
    if (!this.#store.has(run)) {
      this.#events.changed(
        this.#store.create({ id: run, spec, switches: [], createdAt }),
      );
    }
    if (!hasEnded(this.#store.summary(run).state))
      await this.#followers.follow(link, run);
    else if (phase === 'ended' && this.#store.lastSequence(run) >= lastSequence) {
      // Its acknowledgement was lost: without it the journal would stay for ever.
      this.#followers.acknowledge(link, run, lastSequence);
    }
  }

  async #synchronise(
    link: NodeLink,
    everything = this.#scope === 'all',
  ): Promise<void> {
    const followed = this.#interrupted;
    for (const id of this.#followers.ids) followed.add(id);
    // Without an answer they stay as they are, and this is tried again.
    const { runs } = await link.request('runs', {});
    this.#followers.dropAll();
    for (const run of runs) {
      if (!everything && !followed.has(run.run)) continue;
      try {
        await this.#takeIn(link, run);
      } catch (error) {
        if (link.connection === undefined) throw error;
        this.#trouble(error); // of this run: the others go on
      }
    }
    // Ended, stored and forgotten while this link was down, all by another process.
    for (const id of followed) {
      const summary = this.#store.summary(id);
      if (!this.#followers.has(id) && hasEnded(summary.state)) this.#changed(summary);
    }
    const known = new Set(runs.map(({ run }) => run));
    for (const run of this.#store.unended()) {
      const relevant = everything || followed.has(run.id);
      // One that another process is about to start is not lost.
      if (relevant && !isBeingLaunched(run) && !known.has(run.id)) this.#lose(run.id);
    }
    followed.clear();
  }

  #lose(id: string): void {
    const error = failure(
      'RUN_LOST',
      `the supervisor does not know run ${id}: it ended without its last records`,
      {
        next: `What was stored is kept. Launch it again: gradwire runs relaunch ${id}.`,
      },
    );
    this.#changed(this.#store.fail(id, error.toData(), Date.now()));
  }

  #changed(summary: RunSummary): void {
    this.#events.changed(summary);
    if (!hasEnded(summary.state)) return;
    this.#followers.drop(summary.id);
    this.#endings.get(summary.id)?.resolve(summary);
    this.#endings.delete(summary.id);
  }

  #trouble(error: unknown): void {
    if (!this.#closed) this.#events.notice(toErrorData(error));
  }
}

/** Whether another process, or this one, is about to start it. */
function isBeingLaunched({ starting, launcher }: UnendedRun): boolean {
  return starting && launcher !== undefined && isAlive(launcher);
}
