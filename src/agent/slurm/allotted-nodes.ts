/** The nodes of a job that runs, and the addresses at which their ranks listen. */
import { lookup } from 'node:dns/promises';
import { failure } from '../../shared/errors/errors.ts';
import { findNodes, type ComputeNode, type JobStatus } from './slurm-client.ts';
import type { SlurmJob } from './slurm-job.ts';

const LOOPBACK = '127.0.0.1';

export interface AllottedNodes {
  readonly nodes: readonly ComputeNode[];
  /** Address of each node, at which its ranks listen. */
  readonly addresses: readonly string[];
  readonly coresPerNode: number;
}

/**
 * Finds the nodes of a job; of more nodes than ranks, the first.
 * @throws GradwireError `SLURM_SILENT`, `SLURM_MISSING`, `COMPUTE_NODE_UNKNOWN`
 */
export async function allottedNodes(
  job: SlurmJob,
  { nodeList, cores }: JobStatus,
  ranks: number,
): Promise<AllottedNodes> {
  const found = await findNodes(nodeList, job);
  const nodes = found.slice(0, ranks);
  const addresses = await Promise.all(nodes.map((one) => addressOf(one, nodes)));
  return { nodes, addresses, coresPerNode: cores / found.length };
}

/** @throws GradwireError `COMPUTE_NODE_UNKNOWN` */
async function addressOf(
  { name, address }: ComputeNode,
  nodes: readonly ComputeNode[],
): Promise<string> {
  if (nodes.length === 1) return LOOPBACK;
  try {
    return (await lookup(address)).address;
  } catch {
    throw failure(
      'COMPUTE_NODE_UNKNOWN',
      `the login node cannot resolve "${address}"`,
      {
        place: name,
        next: 'The login node must know the compute nodes by name. Ask the cluster’s administrators.',
      },
    );
  }
}
