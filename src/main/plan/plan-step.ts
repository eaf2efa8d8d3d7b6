/**
 * Predicts the steps of a spec for a page as for a command: the same request has the same answer,
 * because methods are timed once and kept (`agent/forecast/kept-rehearsals.ts`).
 */
import { planCurve, type PlanCurve } from '../../shared/forecast/plan-curve.ts';
import type { ForecastWorld } from '../../shared/forecast/forecast-question.ts';
import type { CurveAxis, PlanRequest } from '../../shared/forecast/plan-request.ts';
import { planVerdict } from '../../shared/forecast/plan-verdict.ts';
import { plannedMemory } from '../../shared/forecast/planned-memory.ts';
import type { StepPlan } from '../../shared/forecast/step-plan.ts';
import type { ExperimentSpec, ParsedSpec } from '../../shared/spec/experiment-spec.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import type { Forecaster } from './forecaster.ts';
import { requireMachines } from './idle-machines.ts';
import { planNetwork, type MeasuredNetwork, type PlanNetwork } from './plan-network.ts';
import { requirePlannable } from './plannable.ts';

/** Computation of a step and where it is from. */
export interface ComputeTime {
  readonly seconds: number;
  readonly origin: string;
}

export interface PlanParts {
  readonly forecaster: Pick<Forecaster, 'ask'>;
  readonly measured: (spec: Pick<ExperimentSpec, 'world'>) => Promise<MeasuredNetwork>;
  /** Finds the time that a step computes, where the request does not say. */
  readonly computeTime: (spec: ParsedSpec) => Promise<ComputeTime>;
}

/** Bandwidths of a curve: from 100 Mbit/s to 100 Gbit/s. */
const BANDWIDTHS = Array.from({ length: 25 }, (_, index) =>
  Math.round(1e8 * 10 ** (index / 8)),
);
/** Numbers of ranks of a curve. */
const RANK_COUNTS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * @param spec the request's, with the user's own files in it
 * @throws GradwireError if the spec is invalid or cannot be predicted
 */
export async function planStep(
  spec: ParsedSpec,
  request: Omit<PlanRequest, 'spec'>,
  { computeTime, forecaster, measured }: PlanParts,
): Promise<StepPlan> {
  requirePlannable(spec);
  const ranks = request.ranks ?? [spec.world.ranks];
  requireMachines(ranks, request.machines);
  const known = await measured(spec);
  const network = planNetwork(spec, known, request.machines);
  const worlds = ranks.map((count) => network.worldOf(count));
  const curve =
    request.curve && curveWorlds(request.curve, ranks.at(-1)!, spec, network);
  const compute = await computeOf(spec, request, computeTime);
  const answer = await forecaster.ask({
    spec,
    worlds: [...worlds, ...(curve?.worlds ?? [])],
    compute: compute.seconds,
    elements: request.parameters,
    memory: true,
    allotted: known.allotted,
    rehearse: request.rehearse ?? false,
  });
  const available = process.availableMemory();
  return {
    name: spec.name,
    compute: 1000 * compute.seconds,
    computeOrigin: compute.origin,
    network: network.origin,
    elements: answer.elements,
    every: localStepsOf(spec)?.every,
    worlds: worlds.map((world, index) => {
      const candidates = answer.worlds[index]!;
      const parts = answer.memory![index]!;
      return {
        ranks: world.ranks,
        network: world.network,
        candidates,
        verdict: planVerdict(candidates, world.ranks),
        memory: plannedMemory(world.ranks, parts, network.nodes, available),
      };
    }),
    curve:
      curve && planCurve(request.curve!, curve.xs, answer.worlds.slice(worlds.length)),
  };
}

/** The computation that is given, or that of the spec's model: no other can be measured. */
async function computeOf(
  spec: ParsedSpec,
  { compute, parameters }: Omit<PlanRequest, 'spec'>,
  measure: PlanParts['computeTime'],
): Promise<ComputeTime> {
  if (compute !== undefined) return { seconds: compute / 1000, origin: 'given' };
  const { origin, seconds } = await measure(spec);
  const size = parameters === undefined ? '' : ', for the model’s own size';
  return { seconds, origin: origin + size };
}

function curveWorlds(
  axis: CurveAxis,
  ranks: number,
  spec: Pick<ExperimentSpec, 'network'>,
  network: PlanNetwork,
): { readonly xs: PlanCurve['xs']; readonly worlds: readonly ForecastWorld[] } {
  if (axis === 'bandwidth') {
    const latency = spec.network?.latency ?? '0 s';
    return {
      xs: BANDWIDTHS,
      worlds: BANDWIDTHS.map((bandwidth) =>
        network.worldOf(ranks, { bandwidth: `${bandwidth} bit/s`, latency }),
      ),
    };
  }
  const xs = [...new Set([...RANK_COUNTS, ranks])]
    .filter((count) => count >= Math.max(2, network.nodes.length))
    .toSorted((a, b) => a - b);
  return { xs, worlds: xs.map((count) => network.worldOf(count)) };
}
