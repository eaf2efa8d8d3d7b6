/** The nodes that a run gets on a Slurm cluster, and what it cannot use there. */
import { inputError } from '../errors/errors.ts';
import type { ExperimentSpec } from './experiment-spec.ts';
import { checkJobOptions } from '../machines/slurm-options.ts';
import type { SlurmSettings } from '../machines/slurm-settings.ts';

export interface NodeShare {
  readonly nodes: number;
  readonly cpusPerNode: number;
}

/** @throws GradwireError `SLURM_TOO_SMALL` */
export function nodeShare(ranks: number, settings: SlurmSettings): NodeShare {
  const { ranksPerNode = ranks } = settings;
  const needed = Math.ceil(ranks / ranksPerNode);
  const nodes = Math.min(settings.nodes ?? needed, ranks);
  if (nodes < needed) {
    throw inputError(
      'SLURM_TOO_SMALL',
      `${ranks} ranks at ${ranksPerNode} per node need ${needed} nodes, not ${nodes}`,
      {
        place: 'world.ranks',
        next: 'Lower world.ranks, or change --nodes or --ranks-per-node: gradwire nodes edit NAME.',
      },
    );
  }
  return { nodes, cpusPerNode: settings.cpusPerNode ?? Math.ceil(ranks / nodes) };
}

/**
 * Checked before anything is requested from Slurm.
 * @throws GradwireError `SLURM_TOO_SMALL`, `NETWORK_UNSUPPORTED`, `SLURM_OPTION_REFUSED`
 */
export function checkSlurmRun(
  { network, world }: Pick<ExperimentSpec, 'network' | 'world'>,
  settings: SlurmSettings,
): void {
  const { nodes } = nodeShare(world.ranks, settings);
  checkJobOptions(settings.options);
  if (network?.pairs !== undefined) {
    throw inputError(
      'NETWORK_UNSUPPORTED',
      'links with different speeds cannot be emulated on nodes that Slurm chooses',
      { place: 'network.pairs', next: 'Remove pairs, so that all links are the same.' },
    );
  }
  if (network !== undefined && nodes > 1) throw severalNodes(nodes);
}

/**
 * The error of an emulated network on several nodes: which ranks share a node, and so a
 * clock, is known only after the allocation.
 */
export const severalNodes = (nodes: number): Error =>
  inputError(
    'NETWORK_UNSUPPORTED',
    `on a Slurm cluster a network can be emulated on one node only, and this run would get ${nodes}`,
    {
      place: 'network',
      next: 'Remove network, or set one node that holds all ranks: gradwire nodes edit NAME --nodes, --ranks-per-node.',
    },
  );
