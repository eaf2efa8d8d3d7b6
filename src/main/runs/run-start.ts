/**
 * Starts a run that has its row: prepares every rank on its node, follows the journal,
 * then lets all begin together. If the start fails, the run ends with the error from
 * its journal, if there is one.
 */
import { randomBytes } from 'node:crypto';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { portRange, type PortRange } from '../../shared/machines/port-range.ts';
import type { SupervisorRequests } from '../../shared/protocol/supervisor.ts';
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { isHere, listenAddress } from '../cluster/listen-address.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { sameMachine } from '../cluster/same-machine.ts';
import { START_MS } from '../cluster/stop-deadline.ts';
import { copyWorkdir } from '../deploy/workdir-copy.ts';
import { workdirFiles } from '../deploy/workdir-files.ts';
import type { RunStore } from '../store/run-store.ts';
import type { RunFollowers } from './run-followers.ts';
import { measuredLinks, networkOf, profilesOf } from './run-network.ts';
import type { ResumePoint } from './run-restarts.ts';
import type { RunTunnels } from './run-tunnels.ts';

/** Data may have to be read whole before a run can be checked. */
export const READ_MS = 900_000;
/** Time for Slurm to test a job, and to refuse or take it: the supervisor gives up earlier. */
const TEST_JOB_MS = 180_000;
/** Most time for the record of a failed launch to arrive from the journal. */
const LAST_RECORD_MS = 3000;
const SECRET_BYTES = 32;

export interface StartOptions {
  readonly store: RunStore;
  readonly followers: RunFollowers;
  readonly tunnels: RunTunnels;
  /** The links to its nodes, the leading one first. */
  readonly links: readonly [NodeLink, ...NodeLink[]];
  /** The local computer's measured network, if any. */
  readonly profile: NetworkProfile | undefined;
  /** The iteration from which an interrupted run resumes; default: the run starts. */
  readonly resume?: ResumePoint | undefined;
  /** Ends the start before ranks are asked for. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a machine is about to be asked for ranks: from then on it may have the run. */
  readonly asking?: (() => void) | undefined;
}

/**
 * Resolves when all ranks have been told to begin, or when the run waits for nodes from
 * Slurm; then it begins by itself.
 * @throws the reason why it did not begin
 */
export async function startRanks(
  id: string,
  { store, followers, tunnels, links, profile, resume, signal, asking }: StartOptions,
): Promise<void> {
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
  // Ranks that resume stay where they were, whatever the directory has become here.
  const trees =
    resume === undefined
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
        address: links.length > 1 ? { ...address, node: links[share]!.name } : address,
      })),
    )
    .sort((a, b) => a.rank - b.rank)
    .map(({ address }) => address);
  const ways = await tunnels.open(id, shares, addresses, resume !== undefined);
  await Promise.all(
    shares.map(([link]) =>
      link.request(
        'begin',
        { run: id, addresses: ways.addressesFor(link.name) },
        START_MS,
      ),
    ),
  );
}

/**
 * Copies a program's working directory to every machine but this one, unless the spec says
 * that it is there, or Slurm would not take the run's job.
 * @returns the tree of each machine that has a copy
 * @throws GradwireError `SLURM_REFUSED`, `SLURM_MISSING`, and those of `workdirFiles` and `copyWorkdir`
 */
async function copiedTrees(
  run: string,
  { workload, world }: ExperimentSpec,
  links: readonly NodeLink[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<NodeLink, string>> {
  const { command, copy = true, workdir } = workload;
  const away = links.filter((link) => !isHere(link));
  if (command === undefined || workdir === undefined || !copy || away.length === 0) {
    return new Map();
  }
  const entries = await workdirFiles(workdir, signal);
  await Promise.all(away.map((link) => requireJob(link, run, world.ranks)));
  const trees = away.map(async (link) => {
    const cancelled = new AbortController();
    const signals = [cancelled.signal, ...(signal === undefined ? [] : [signal])];
    try {
      const tree = await copyWorkdir(link, workdir, entries, {
        signal: AbortSignal.any(signals),
        progress: (progress) => {
          link.copying(progress, () => {
            cancelled.abort(cancelledCopy(link.name));
          });
        },
      });
      return [link, tree] as const;
    } finally {
      link.copying(undefined, () => undefined);
    }
  });
  return new Map(await Promise.all(trees));
}

/** @throws GradwireError `SLURM_REFUSED`, `SLURM_MISSING` */
async function requireJob(link: NodeLink, run: string, ranks: number): Promise<void> {
  const { name: node, slurm } = link;
  if (slurm === undefined) return;
  await link.request('testJob', { run, ranks, slurm, node }, TEST_JOB_MS);
}

const cancelledCopy = (place: string): Error =>
  failure('ABORTED', 'copying the working directory was cancelled', {
    place,
    next: 'Launch again: what has arrived there is not sent again.',
  });

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

/** Awaits the promise, but rejects once the signal aborts, however long the promise takes. */
async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abandon = (): void => {
      reject(signal!.reason as Error);
    };
    if (signal?.aborted === true) abandon();
    signal?.addEventListener('abort', abandon);
  });
  const result = await Promise.race([promise, aborted]);
  signal?.throwIfAborted();
  return result;
}

type Prepared = Promise<SupervisorRequests['prepare']['reply']>;

const herePorts = ({ world }: ExperimentSpec): PortRange | undefined =>
  world.ports === undefined ? undefined : portRange(world.ports);

/**
 * Settles a failed start: waits a moment for the last records of the run's journals, if any,
 * and ends ranks that still run, for the reason why the start failed.
 * @param ended resolves once the run's last record is stored
 */
export async function settleFailedStart(
  followers: RunFollowers,
  links: readonly NodeLink[],
  id: string,
  reason: ErrorData,
  ended: Promise<RunSummary>,
): Promise<void> {
  const late = Promise.withResolvers<null>();
  const patience = setTimeout(() => {
    late.resolve(null);
  }, LAST_RECORD_MS);
  try {
    const known = await Promise.all(
      links.map((link) => settleNode(followers, link, id, reason)),
    );
    // A run that cannot be followed to its end has failed for the reason of the start.
    const over = ended.catch(() => null);
    if (known.includes(true)) await Promise.race([over, late.promise]);
  } finally {
    clearTimeout(patience);
    followers.drop(id);
  }
}

/**
 * Ends the run on the node, also while it is being prepared there, and follows its journal;
 * returns whether there is one.
 */
async function settleNode(
  followers: RunFollowers,
  link: NodeLink,
  id: string,
  error: ErrorData,
): Promise<boolean> {
  const { connection } = link;
  try {
    // Not stopped: its journal names the cause, whichever machine that is on.
    await connection
      ?.request('abort', { run: id, error }, LAST_RECORD_MS)
      .catch(ignoreUnknown);
    const reply = await connection?.request('runs', {}, LAST_RECORD_MS);
    if (reply?.runs.some(({ run }) => run === id) !== true) return false;
    await followers.follow(link, id);
    return true;
  } catch (thrown) {
    // The error of the start is the one to report; this one only says that no record
    // comes, or that the run has ended meanwhile.
    if (!(thrown instanceof GradwireError)) throw thrown;
    return false;
  }
}

/** The node has not been asked for ranks, or has ended the run itself. */
function ignoreUnknown(error: unknown): void {
  if (!(error instanceof GradwireError) || error.code !== 'RUN_UNKNOWN') throw error;
}
