/** Of a Slurm cluster's nodes, what a run gets, and what it cannot have there. */
import { inputError } from './errors.ts';
import type { ExperimentSpec } from './experiment-spec.ts';
import type { SlurmSettings } from './slurm-settings.ts';

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
        next: 'Lower world.ranks, or add the machine anew with other --nodes or --ranks-per-node.',
      },
    );
  }
  return { nodes, cpusPerNode: settings.cpusPerNode ?? Math.ceil(ranks / nodes) };
}

/**
 * Before anything is asked of Slurm.
 * @throws GradwireError `SLURM_TOO_SMALL`, `NETWORK_UNSUPPORTED`
 */
export function checkSlurmRun(
  { network, world }: Pick<ExperimentSpec, 'network' | 'world'>,
  settings: SlurmSettings,
): void {
  const { nodes } = nodeShare(world.ranks, settings);
  if (network?.pairs !== undefined) {
    throw inputError(
      'NETWORK_UNSUPPORTED',
      'links between nodes that differ cannot be emulated on nodes that Slurm chooses',
      { place: 'network.pairs', next: 'Leave out pairs: all links are alike then.' },
    );
  }
  if (network !== undefined && nodes > 1) throw severalNodes(nodes);
}

/** Which ranks share a node, and so a clock, is known only when it has been allotted. */
export const severalNodes = (nodes: number): Error =>
  inputError(
    'NETWORK_UNSUPPORTED',
    `on a Slurm cluster a network is emulated on one node, and this run would get ${nodes}`,
    {
      place: 'network',
      next: 'Leave out network, or add the machine anew for one node with room for all ranks.',
    },
  );
