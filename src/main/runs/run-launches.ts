/** Launches of runs: a spec is checked, its run is stored, its ranks start. */
import { inputError, toErrorData } from '../../shared/errors/errors.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { checkSlurmRun } from '../../shared/spec/slurm-share.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { relaunched } from './relaunched.ts';
import { newRunId } from './run-id.ts';
import type { ResumePoint } from './run-restarts.ts';
import { READ_MS, settleFailedStart, startRanks } from './run-start.ts';

export class RunLaunches {
  readonly #parts: CoordinatorParts;

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
    return (await lead.request('validate', { spec, switches }, READ_MS)).spec;
  }

  /** Validates and starts a run. Resolves when its first iteration begins. */
  async launch(
    given: ParsedSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<RunSummary> {
    const { id } = await this.create(given, switches);
    return this.begin(id);
  }

  /** Validates a run and stores its row; `begin` starts it. */
  async create(
    given: ParsedSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<RunSummary> {
    const spec = await this.validate(given, switches);
    const summary = this.#parts.store.create({
      id: newRunId(),
      spec,
      switches,
      createdAt: Date.now(),
      launcher: process.pid,
    });
    this.#parts.news.changed(summary);
    return summary;
  }

  /**
   * Starts the ranks of a created run. If that fails, the run is stored as failed.
   * @throws GradwireError the reason why it did not start
   */
  async begin(id: string): Promise<RunSummary> {
    this.#parts.kept.add(id);
    const links = this.#parts.linksOf(id);
    try {
      await this.#parts.stops.starting(id, (signal) =>
        this.start(id, undefined, signal),
      );
      return this.#parts.store.summary(id);
    } catch (thrown) {
      const reason = toErrorData(thrown);
      await settleFailedStart(
        this.#parts.followers,
        links,
        id,
        reason,
        this.#parts.endings.of(id),
      );
      this.#parts.news.changed(this.#parts.store.fail(id, reason, Date.now()));
      throw thrown;
    }
  }

  /** Starts the ranks of a run, for the first time or from a checkpoint. */
  async start(id: string, resume?: ResumePoint, signal?: AbortSignal): Promise<void> {
    await startRanks(id, {
      store: this.#parts.store,
      followers: this.#parts.followers,
      tunnels: this.#parts.tunnels,
      links: this.#parts.linksOf(id),
      profile: await this.#parts.networkProfile(),
      resume,
      signal,
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
