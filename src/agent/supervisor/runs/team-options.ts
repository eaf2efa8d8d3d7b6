/** Options with which a run's ranks on this node start, and records of their start. */
import { emulatedNetwork } from '../../../shared/machines/emulated-network.ts';
import type { PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type { RankAddress } from '../../../shared/protocol/supervisor.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
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

/** Cores and threads of a rank. */
interface RankResources {
  /** Threads that autodiff may use. */
  readonly threads: number;
  /** Whether the engine gets its own thread. */
  readonly engine: 'thread' | 'inline';
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
  const { run, plan, ranks, node, title = node } = options;
  const { secret, listen, ports, network, places } = setting;
  const spec = rankSpec(options, placement);
  const cores = placement?.coresPerRank ?? options.coresPerRank;
  return {
    ranks,
    node: { name: node, title },
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

/**
 * Decides how each rank uses a machine's cores.
 * @param coresPerRank less than 1 if ranks share one
 */
export function rankResources(
  { engine }: Pick<ExperimentSpec, 'engine'>,
  coresPerRank: number,
): RankResources {
  return {
    threads: Math.max(1, Math.floor(coresPerRank)),
    engine: engine === 'auto' ? byCores(coresPerRank) : engine,
  };
}

/**
 * Chooses the engine's place: its own thread pays if trainer and engine can run at the same time.
 */
const byCores = (coresPerRank: number): 'thread' | 'inline' =>
  coresPerRank >= 2 ? 'thread' : 'inline';

/**
 * The spec as its ranks get it: with the copied directory of their program, if there is one, and
 * with encryption by default between machines.
 */
function rankSpec(
  { spec, workdir }: RunOptions,
  placement: RankPlacement | undefined,
): ExperimentSpec {
  const { workload } = spec;
  const placed =
    workdir === undefined ? spec : { ...spec, workload: { ...workload, workdir } };
  if (placement === undefined) return placed;
  const encrypt = spec.encrypt ?? placement.places.some((place) => place > 0);
  return { ...placed, encrypt };
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
