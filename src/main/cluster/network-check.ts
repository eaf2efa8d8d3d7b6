/**
 * Measures a machine's own network: the links between ranks on it. While a run is in progress there
 * nothing is measured unless requested, as with links.
 */
import {
  parseNetworkProfile,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { inputError } from '../../shared/errors/errors.ts';
import type { BusyRun } from '../../shared/machines/link-status.ts';
import type { SupervisorRequests } from '../../shared/protocol/supervisor.ts';
import { at, runsAt } from './link-check.ts';
import type { NodeLink } from './node-link.ts';

/** No measurement takes as long: 64 ranks need some six minutes. */
const MEASURE_MS = 1_800_000;

export interface NetworkCheckOptions {
  readonly request: SupervisorRequests['measureNetwork']['request'];
  /** Whether to measure beside runs in progress, too; otherwise it is refused. */
  readonly whileRunning: boolean;
}

export interface MeasuredNetwork {
  readonly profile: NetworkProfile;
  /** Runs that were in progress: the result is what they left free. */
  readonly runs: readonly BusyRun[];
}

/** @throws GradwireError `NODE_IS_SLURM`, `NODE_BUSY`, `NETWORK_PROFILE_INVALID`, errors of the machine */
export async function checkNetwork(
  node: NodeLink,
  { request, whileRunning }: NetworkCheckOptions,
): Promise<MeasuredNetwork> {
  if (node.slurm !== undefined) {
    throw inputError(
      'NODE_IS_SLURM',
      'ranks of this machine run on nodes that Slurm allocates, not on itself',
      { place: node.name, next: 'Measure a machine on which ranks run.' },
    );
  }
  const before = await runsAt([node]);
  if (before.length > 0 && !whileRunning) {
    throw inputError('NODE_BUSY', `run ${before[0]!.run} is in progress there`, {
      place: node.name,
      next: 'Measure once it has ended, or add --while-running, which disturbs it.',
    });
  }
  const measured = node.request('measureNetwork', request, MEASURE_MS);
  const reply = await at(node, measured);
  // Another machine's word: what is stored must not stop its runs later.
  const profile = parseNetworkProfile(reply.profile, node.name);
  return { profile, runs: before.length > 0 ? before : await runsAt([node]) };
}
