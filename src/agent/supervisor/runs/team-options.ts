/** Options with which a run's ranks on this node start, and records of their start. */
import { emulatedNetwork } from '../../../shared/machines/emulated-network.ts';
import type { PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type { RankAddress } from '../../../shared/protocol/supervisor.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
import { rankResources, specOn } from '../ranks/rank-resources.ts';
import type { TeamOptions } from '../ranks/rank-team.ts';
import type { TeamStart } from '../ranks/team-start.ts';
import { dataNotice, memoryNotice } from '../ranks/run-errors.ts';
import type { RankSetting, RunOptions } from './run-options.ts';

/** The point from which ranks resume. */
export interface Resumption {
  readonly iteration: number;
  /** All switches of the run; those that have taken effect have their fences. */
  readonly switches: readonly PlanSwitch[];
}

interface TeamSurroundings {
  /** Machines of the ranks, if Slurm allocates them. */
  readonly placement: RankPlacement | undefined;
  /** Directory for checkpoints. */
  readonly checkpoints: string;
  /** Default: they begin the run. */
  readonly from: Resumption | undefined;
}

export function teamOptions(
  options: RunOptions,
  setting: RankSetting,
  { placement, checkpoints, from }: TeamSurroundings,
): TeamOptions {
  const { run, plan, ranks, node, workdir } = options;
  const { secret, listen, ports, network, places } = setting;
  const spec = specOn({ placement, workdir }, options.spec);
  const cores = placement?.coresPerRank ?? options.coresPerRank;
  return {
    ranks,
    node,
    patienceSeconds: spec.patienceSeconds,
    placement,
    configuration: {
      run,
      spec,
      plan,
      secret,
      listen,
      ports,
      network,
      ...rankResources(spec, cores),
      places: placement?.places ?? places,
      switches: from?.switches ?? options.switches,
      checkpoints,
      resume: from?.iteration,
    },
  };
}

/** Records of ranks that are ready. @param resumed the iteration from which they resume, if they do */
export function startRecords(
  options: RunOptions,
  { processes, ...team }: TeamStart,
  resumed: number | undefined,
): readonly RunRecord[] {
  const { iterationsPerPass, memoryWarning, node, notice, plan, spec } = options;
  const at = Date.now();
  if (resumed !== undefined) {
    return [{ type: 'restarted', at, node, iteration: resumed, processes }];
  }
  const { network } = spec;
  return [
    {
      type: 'started',
      at,
      ranks: spec.world.ranks,
      ...team,
      ...(iterationsPerPass === undefined ? {} : { iterationsPerPass }),
      plan: { ...plan },
      processes,
      ...(network === undefined ? {} : { emulated: emulatedNetwork(network) }),
    },
    ...(notice === undefined ? [] : [dataNotice(notice)]),
    ...(memoryWarning === undefined ? [] : [memoryNotice(memoryWarning)]),
  ];
}

/** Addresses in the order of ranks; of ranks on several machines each names its machine. */
export function namedAddresses(
  addresses: ReadonlyMap<number, RankAddress>,
  placement: RankPlacement | undefined,
): readonly RankAddress[] {
  const isSpread = new Set(placement?.places).size > 1;
  return [...addresses]
    .toSorted(([a], [b]) => a - b)
    .map(([rank, address]) =>
      isSpread ? { ...address, node: placement!.nodeOf(rank) } : address,
    );
}
