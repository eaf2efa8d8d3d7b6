/**
 * Predicts a whole run of a spec, by the same forecaster and network as a plan. Only the spec's own
 * exchange is asked for, so that a sweep of many points has its answer soon.
 */
import { GradwireError, toErrorData } from '../../shared/errors/errors.ts';
import type { PointForecast, RunForecast } from '../../shared/forecast/run-forecast.ts';
import type { ParsedSpec } from '../../shared/spec/experiment-spec.ts';
import type { PlanParts } from './plan-step.ts';
import { planNetwork } from './plan-network.ts';
import { requirePlannable } from './plannable.ts';

/** @throws GradwireError if the spec is invalid or cannot be predicted */
async function predictRun(
  spec: ParsedSpec,
  { computeTime, forecaster, measured }: PlanParts,
): Promise<RunForecast> {
  requirePlannable(spec);
  const known = await measured(spec);
  const network = planNetwork(spec, known);
  const compute = await computeTime(spec);
  const answer = await forecaster.ask({
    spec,
    worlds: [network.worldOf(spec.world.ranks)],
    compute: compute.seconds,
    exchanges: [],
    memory: true,
    allotted: known.allotted,
    rehearse: false,
  });
  const { step, wireBytes } = answer.worlds[0]!.find(({ chosen }) => chosen)!;
  const { iterations } = spec;
  return {
    step: 1000 * step,
    compute: 1000 * compute.seconds,
    iterations,
    time: 1000 * step * iterations,
    bytes: wireBytes * iterations,
    memory: answer.memory![0]!.reduce((sum, { bytes }) => sum + bytes, 0),
    computeOrigin: compute.origin,
    network: network.origin,
  };
}

/** The prediction of a sweep's point, or why there is none. */
export async function predictPoint(
  { number, spec }: { readonly number: number; readonly spec: ParsedSpec },
  parts: PlanParts,
): Promise<PointForecast> {
  try {
    return { point: number, forecast: await predictRun(spec, parts) };
  } catch (thrown) {
    if (!(thrown instanceof GradwireError)) throw thrown;
    return { point: number, error: toErrorData(thrown) };
  }
}
