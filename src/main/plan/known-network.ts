/** Measurements of the network between a spec's machines, as far as these are known. */
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import { GradwireError } from '../../shared/errors/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { Home } from '../home/home.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import { measuredLinks, profilesOf } from '../runs/run-network.ts';
import type { RunStore } from '../store/run-store.ts';
import type { MeasuredNetwork } from './plan-network.ts';

interface Parts {
  readonly coordinator: RunCoordinator;
  readonly home: Pick<Home, 'networkProfile'>;
  readonly store: RunStore;
  /** The profile of this computer. */
  readonly own: NetworkProfile | undefined;
}

/** Machines of an old run that were removed have no measurements. */
export function knownNetwork(
  spec: Pick<ExperimentSpec, 'world'>,
  { coordinator, home, own, store }: Parts,
): MeasuredNetwork {
  const names = nodesOf(spec);
  const nodes = names.flatMap((name) => {
    try {
      return [coordinator.machines.node(name)];
    } catch (error) {
      if (error instanceof GradwireError && error.code === 'NODE_UNKNOWN') return [];
      throw error;
    }
  });
  const isComplete = nodes.length === names.length;
  return {
    profiles: profilesOf(store.facts, nodes, own),
    links: isComplete ? measuredLinks(store.links, nodes) : undefined,
    allotted: nodes.some(({ slurm }) => slurm !== undefined),
    file: home.networkProfile,
    isGiven: false,
  };
}
