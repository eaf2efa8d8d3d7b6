/**
 * The launch of a stored run once more: its spec, with the names that its machines have now,
 * and its switches as they happened.
 */
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import {
  withoutIdleMomentum,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { RunStore } from '../store/run-store.ts';
import { scheduleAsItHappened } from './switch-schedule.ts';

export interface Relaunched {
  readonly spec: ExperimentSpec;
  readonly switches: readonly SwitchRequest[];
}

/**
 * @param catalogue of the agents that it is launched on
 * @throws GradwireError `RUN_UNKNOWN`
 */
export function relaunched(
  store: RunStore,
  run: string,
  { methods }: Pick<Catalogue, 'methods'>,
): Relaunched {
  const detail = store.reads.detail(run);
  return {
    spec: withNames(
      withoutIdleMomentum(detail.spec),
      (name) => store.nodes.renamedTo(name) ?? name,
    ),
    switches: scheduleAsItHappened(detail, store.switches(run), methods),
  };
}

function withNames(
  spec: ExperimentSpec,
  nameOf: (name: string) => string,
): ExperimentSpec {
  const { network, world } = spec;
  const named = { ...spec, world: { ...world, nodes: world.nodes.map(nameOf) } };
  if (network?.pairs === undefined) return named;
  const pairs = network.pairs.map(({ between: [one, other], ...link }) => ({
    ...link,
    between: [nameOf(one), nameOf(other)] as [string, string],
  }));
  return { ...named, network: { ...network, pairs } };
}
