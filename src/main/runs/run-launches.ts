/**
 * Launches of runs: a spec is checked, its run is stored, its ranks start. If the start fails, the
 * run ends with the error from its journal, if there is one.
 */
import { randomBytes } from 'node:crypto';
import { unlessAborted } from './unless-aborted.ts';
import {
  failure,
  GradwireError,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { portRange, type PortRange } from '../../shared/machines/port-range.ts';
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import type {
  SupervisorRequests,
  SwitchRequest,
} from '../../shared/protocol/supervisor.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import {
  nodesOf,
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { checkSlurmRun } from '../../shared/spec/slurm-share.ts';
import { isHere, listenAddress } from '../cluster/listen-address.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { sameMachine } from '../cluster/same-machine.ts';
import { START_MS } from '../cluster/stop-deadline.ts';
import { ownName } from '../home/process-name.ts';
import type { SweepPlace } from '../store/run-store.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { settleFailedStart } from './failed-start.ts';
import { copiedTrees } from './program-copies.ts';
import { relaunched } from './relaunched.ts';
import { newRunId } from './run-id.ts';
import { measuredLinks, networkOf, profilesOf } from './run-network.ts';
import type { ResumePoint } from './run-restarts.ts';

/** Data may have to be read whole before a run can be checked. */
const READ_MS = 900_000;
const SECRET_BYTES = 32;

interface StartOptions {
  /** The iteration from which an interrupted run resumes; default: the run starts. */
  readonly resume?: ResumePoint | undefined;
  /** Ends the start before ranks are asked for. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a machine is about to be asked for ranks: from then on it may have the run. */
  readonly asking?: (() => void) | undefined;
}

type Prepared = Promise<SupervisorRequests['prepare']['reply']>;

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

  /**
   * Starts the ranks of a run, for the first time or from a checkpoint: prepares each on its
   * machine, follows the journals, then lets all begin together. Resolves when all have been told
   * to begin, or when the run waits for nodes from Slurm; then it begins by itself.
   * @throws the reason why it did not begin
   */
  async start(id: string, { resume, signal, asking }: StartOptions): Promise<void> {
    const { store, followers, tunnels } = this.#parts;
    const links = this.#parts.linksOf(id);
    const profile = await this.#parts.networkProfile();
    const spec = store.spec(id);
    const switches = store.switches(id);
    const secret = randomBytes(SECRET_BYTES);
    const { slurm } = links[0];
    const network = networkOf(spec, spec.world.ranks, {
      profiles: profilesOf(store.facts, links, profile),
      links: measuredLinks(store.links, links),
    });
    const shares = assignRanks(spec.world.ranks, links);
    const places = placesOf(shares);
    await unlessAborted(Promise.all(links.map((link) => link.connect())), signal);
    const same = sameMachine(
      links,
      (_, second) => `Remove ${second} from world.nodes; its ranks can all be on one.`,
    );
    if (same !== undefined) throw same;
    const isAway = links.some((link) => !isHere(link));
    // Ranks that resume stay where they were, whatever the directory has become here.
    const trees =
      isAway && resume === undefined
        ? await unlessAborted(copiedTrees(id, spec, links, signal), signal)
        : undefined;
    const prepare = async ([link, ranks]: (typeof shares)[number]): Prepared => {
      const connection = await link.connectToLaunch();
      asking?.();
      return connection.request(
        'prepare',
        {
          run: id,
          spec,
          switches,
          ranks,
          secret,
          network,
          places,
          resume,
          slurm,
          tree: trees?.get(link),
          ...(isHere(link) ? {} : { node: link.name }),
          listen: listenAddress(link, links),
          ports: isHere(link) ? herePorts(spec) : link.ports,
        },
        READ_MS + START_MS,
      );
    };
    const [lead, ...others] = shares.map((share) => () => prepare(share));
    // Of two apps that restart a run at once, the one that gets the first node does it.
    const first = lead!();
    if (resume !== undefined) await first;
    const prepared = await Promise.all([first, ...others.map((ask) => ask())]);
    // Before it begins, so that an immediate failure is seen.
    await Promise.all(links.map((link) => followers.follow(link, id)));
    if (prepared.some(({ queued }) => queued === true)) return;
    for (const [share, [link, ranks]] of shares.entries()) {
      requireAddresses(link.name, ranks, prepared[share]!.addresses);
    }
    const addresses = prepared
      .flatMap((reply, share) =>
        reply.addresses.map(({ rank, address }) => ({
          rank,
          address:
            links.length > 1 ? { ...address, node: links[share]!.name } : address,
        })),
      )
      .sort((a, b) => a.rank - b.rank)
      .map(({ address }) => address);
    // Ranks on one machine reach each other.
    const ways =
      shares.length > 1
        ? await tunnels.open(id, shares, addresses, resume !== undefined)
        : undefined;
    await Promise.all(
      shares.map(([link]) =>
        link.request(
          'begin',
          { run: id, addresses: ways?.addressesFor(link.name) ?? addresses },
          START_MS,
        ),
      ),
    );
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

/** Codes of losses that a run survives once it has begun. */
const LOSSES = new Set(['SUPERVISOR_LOST', 'SUPERVISOR_TIMEOUT']);

/** The reason why a run did not begin. After a loss it says that the run, not having begun, is gone. */
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

/** @throws GradwireError `REPLY_INVALID`: otherwise another machine would be blamed */
function requireAddresses(
  place: string,
  ranks: readonly number[],
  addresses: Awaited<Prepared>['addresses'],
): void {
  const given = new Set(addresses.map(({ rank }) => rank));
  const missing = ranks.find((rank) => !given.has(rank));
  if (missing === undefined && addresses.length === ranks.length) return;
  throw failure(
    'REPLY_INVALID',
    missing === undefined
      ? `${addresses.length} addresses for ${ranks.length} ranks`
      : `no address of rank ${missing}, which was started there`,
    { place, next: `Deploy the agent again: gradwire nodes deploy ${place}.` },
  );
}

const herePorts = ({ world }: ExperimentSpec): PortRange | undefined =>
  world.ports === undefined ? undefined : portRange(world.ports);
