/**
 * Starting a run that has its row: prepare every rank on its node, follow the journal,
 * then let all begin together. What goes wrong on the way is settled so that the run
 * ends with the error that its journal gives, if it gives one.
 */
import { randomBytes } from 'node:crypto';
import {
  networkCostOf,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { GradwireError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { RunSummary } from '../../shared/rpc.ts';
import type { RunStore } from '../store/run-store.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { assignRanks } from './rank-assignment.ts';
import type { RunFollowers } from './run-followers.ts';

/** Building models, loading data, listening: the supervisor gives up before. */
const START_MS = 90_000;
/** How long the record of a failed launch may take to come out of the journal. */
const LAST_RECORD_MS = 3000;
const SECRET_BYTES = 32;

/**
 * How long a stop may take: the ranks may have to begin first, and the iteration under way
 * and what closes the run may each take as long as ranks wait for one another.
 */
export function stopDeadline({ patienceSeconds }: ExperimentSpec): number {
  return START_MS + 2 * patienceSeconds * 1000;
}

/**
 * Resolves when the first iteration begins.
 * @param profile what was measured of the network, if anything: all ranks get the same
 * @throws whatever kept it from beginning
 */
export async function startRanks(
  store: RunStore,
  followers: RunFollowers,
  links: readonly [NodeLink, ...NodeLink[]],
  id: string,
  profile: NetworkProfile | undefined,
): Promise<void> {
  const spec = store.spec(id);
  const switches = store.switches(id);
  const secret = randomBytes(SECRET_BYTES);
  const network = profile && networkCostOf(profile, spec.world.ranks);
  const shares = assignRanks(spec.world.ranks, links);
  const prepared = await Promise.all(
    shares.map(([link, ranks]) =>
      link.request(
        'prepare',
        { run: id, spec, switches, ranks, secret, network },
        START_MS,
      ),
    ),
  );
  // Before it begins: a run that fails at once is seen to fail.
  await followers.follow(links[0], id);
  const addresses = prepared
    .flatMap((reply) => reply.addresses)
    .sort((a, b) => a.rank - b.rank)
    .map(({ address }) => address);
  await Promise.all(
    shares.map(([link]) => link.request('begin', { run: id, addresses }, START_MS)),
  );
}

/**
 * After a failed start: waits a moment for the last record of the run's journal, where
 * its supervisor has one, and stops what still runs.
 * @param ended resolves when the run's last record is stored
 */
export async function settleFailedStart(
  followers: RunFollowers,
  link: NodeLink,
  id: string,
  ended: Promise<RunSummary>,
): Promise<void> {
  const late = Promise.withResolvers<null>();
  const patience = setTimeout(() => {
    late.resolve(null);
  }, LAST_RECORD_MS);
  try {
    const reply = await link.connection?.request('runs', {}, LAST_RECORD_MS);
    const run = reply?.runs.find((candidate) => candidate.run === id);
    if (run === undefined) return;
    if (run.phase !== 'ended') await stop(link, id);
    await followers.follow(link, id);
    await Promise.race([ended, late.promise]);
  } catch (error) {
    // The error of the start is the one to report; this one says only that no record
    // comes.
    if (!(error instanceof GradwireError)) throw error;
  } finally {
    clearTimeout(patience);
    followers.drop(id);
  }
}

async function stop(link: NodeLink, id: string): Promise<void> {
  try {
    await link.connection?.request('stop', { run: id }, LAST_RECORD_MS);
  } catch (error) {
    // It may have ended in between; the record that is awaited next tells.
    if (!(error instanceof GradwireError)) throw error;
  }
}
