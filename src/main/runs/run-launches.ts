/** Launches of runs: a spec is checked, its run is stored, its ranks start. */
import {
  GradwireError,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import {
  nodesOf,
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { checkSlurmRun } from '../../shared/spec/slurm-share.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { ownName } from '../home/process-name.ts';
import type { SweepPlace } from '../store/run-store.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { relaunched } from './relaunched.ts';
import { newRunId } from './run-id.ts';
import {
  READ_MS,
  settleFailedStart,
  startRanks,
  type StartOptions,
} from './run-start.ts';

export class RunLaunches {
  readonly #parts: CoordinatorParts;
  /** Runs whose ranks are being started for the first time, and what ends the wait for them. */
  readonly #starting = new Map<string, (error: GradwireError) => void>();

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /**
   * The spec as it would run: its machines checked here, every name and parameter by the agent.
   * @throws GradwireError of kind input
   */
  async validate(
    spec: ParsedSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<ExperimentSpec> {
    for (const name of spec.world.nodes) this.#parts.nodes.named(name, 'world.nodes');
    const { nodes, ranks } = spec.world;
    if (nodes.length > ranks) {
      throw inputError(
        'NODES_IDLE',
        `${nodes.length} machines for ${ranks === 1 ? 'one rank' : `${ranks} ranks`}`,
        { place: 'world.nodes', next: 'Name fewer machines, or raise world.ranks.' },
      );
    }
    const [lead, ...others] = this.#parts.nodes.of(spec);
    assertAlone([lead, ...others]);
    if (lead.slurm !== undefined) checkSlurmRun(spec, lead.slurm);
    const allotted = lead.slurm !== undefined;
    const request = { spec, switches, allotted };
    return (await lead.request('validate', request, READ_MS)).spec;
  }

  /** Validates and starts a run. Resolves when its first iteration begins. */
  async launch(
    given: ParsedSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<RunSummary> {
    const { id } = await this.create(given, switches);
    return this.begin(id);
  }

  /**
   * Validates a run and stores its row; `begin` starts it.
   * @param sweep its place in the queue of a sweep, which it leaves
   */
  async create(
    given: ParsedSpec,
    switches: readonly SwitchRequest[] = [],
    sweep?: SweepPlace,
  ): Promise<RunSummary> {
    const spec = await this.validate(given, switches);
    const summary = this.#parts.store.create({
      id: newRunId(),
      spec,
      switches,
      createdAt: Date.now(),
      launcher: ownName(),
      sweep,
    });
    this.#parts.news.changed(summary);
    return summary;
  }

  /**
   * Starts the ranks of a created run. If that fails, the run is stored as failed, except where a
   * cluster may have taken it: it is found, or called lost, once the machine answers.
   * @throws GradwireError the reason why it did not start
   */
  async begin(id: string): Promise<RunSummary> {
    this.#parts.kept.add(id);
    const links = this.#parts.linksOf(id);
    const givenUp = Promise.withResolvers<never>();
    let isGivenUp = false;
    let isAsked = false;
    const asking = (): void => {
      isAsked = true;
    };
    this.#starting.set(id, (error) => {
      isGivenUp = true;
      givenUp.reject(error);
    });
    try {
      const begun = this.#parts.stops.starting(id, (signal) =>
        this.start(id, { signal, asking }),
      );
      await Promise.race([begun, givenUp.promise]);
      return this.#parts.store.summary(id);
    } catch (thrown) {
      const error = toErrorData(thrown);
      // Slurm may have taken its job: then it begins by itself, whatever is stored here.
      if (links[0].slurm !== undefined && isGivenUp) throw thrown;
      if (links[0].slurm !== undefined && isAsked && LOSSES.has(error.code)) {
        this.#parts.recovery.handOver(links[0], id, error);
        return this.#parts.store.summary(id);
      }
      const reason = notBegun(error);
      await settleFailedStart(
        this.#parts.followers,
        links,
        id,
        reason,
        this.#parts.endings.of(id),
      );
      this.#parts.news.changed(this.#parts.store.fail(id, reason, Date.now()));
      throw thrown instanceof GradwireError
        ? new GradwireError(reason, { cause: thrown })
        : thrown;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Returns the runs that are being started on a machine. */
  startingOn(node: string): readonly string[] {
    return [...this.#starting.keys()].filter((id) =>
      nodesOf(this.#parts.store.spec(id)).includes(node),
    );
  }

  /** Ends the wait for runs that are being started on a machine that is given up. */
  giveUp(node: string, error: ErrorData): void {
    for (const id of this.startingOn(node)) {
      this.#starting.get(id)!(new GradwireError(error));
    }
  }

  /** Starts the ranks of a run, for the first time or from a checkpoint. */
  async start(
    id: string,
    options: Pick<StartOptions, 'resume' | 'signal' | 'asking'>,
  ): Promise<void> {
    await startRanks(id, {
      store: this.#parts.store,
      followers: this.#parts.followers,
      tunnels: this.#parts.tunnels,
      links: this.#parts.linksOf(id),
      profile: await this.#parts.networkProfile(),
      ...options,
    });
  }

  /** Launches the same spec with the same switches, as they happened. */
  async relaunch(id: string): Promise<RunSummary> {
    const { spec, switches } = relaunched(
      this.#parts.store,
      id,
      await this.#parts.machines.catalogue(),
    );
    return this.launch(parseExperimentSpec(spec), switches);
  }

  /**
   * The switches of a run, as they happened and as it was launched with.
   * @throws GradwireError `RUN_UNKNOWN`
   */
  async switchesOf(id: string): Promise<readonly SwitchRequest[]> {
    return relaunched(this.#parts.store, id, await this.#parts.machines.catalogue())
      .switches;
  }
}

/** Losses that end no run which has begun. */
const LOSSES = new Set(['SUPERVISOR_LOST', 'SUPERVISOR_TIMEOUT']);

/** The reason why a run did not begin: unlike one that has begun, it does not go on without main. */
function notBegun(reason: ErrorData): ErrorData {
  if (!LOSSES.has(reason.code)) return reason;
  const message = `${reason.message}, while the run was being started`;
  const next =
    'It has not begun. Check that the machine is not overloaded and that its supervisor is not stopped ' +
    '(gradwire nodes check), then launch it again.';
  return { ...reason, message, next };
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
