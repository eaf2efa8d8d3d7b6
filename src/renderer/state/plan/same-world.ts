/** Runs that may be held against a plan: with the same machines, and nothing else than it says. */
import type { MeasuredStep } from '../../../shared/forecast/measured-step.ts';
import type { StepPlan } from '../../../shared/forecast/step-plan.ts';
import { emulatedNetwork } from '../../../shared/machines/emulated-network.ts';
import { DEFAULT_METHOD } from '../../../shared/plan/exchange-plan.ts';
import { valueAt, type Draft } from '../experiment/spec-draft.ts';
import type { PlanPlace } from '../places/plan.ts';
import { axisOf, readLink } from './plan-choices.ts';

export interface ComparableRuns {
  /** Runs in the very world of the plan, by any method. */
  readonly here: readonly MeasuredStep[];
  /** Runs by the spec's method or none that differ from the plan in the curve's axis alone. */
  readonly along: readonly MeasuredStep[];
  /** Bit/s of the planned network, if it is emulated. */
  readonly bandwidth?: number | undefined;
}

/** Emulated bandwidths that are as good as equal. */
const isNear = (a: number | undefined, b: number | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Math.abs(Math.log(a / b)) < 0.01);

export function sameWorld(
  runs: readonly MeasuredStep[],
  spec: Draft,
  place: PlanPlace,
  plan: StepPlan,
): ComparableRuns {
  // A model of another size has no runs.
  if (place.parameters !== undefined) return { here: [], along: [] };
  const text = valueAt(spec, 'network.bandwidth');
  const bandwidth =
    text === undefined ? undefined : emulatedNetwork(readLink(String(text))).bandwidth;
  const ranks = plan.worlds[0]!.ranks;
  const nodes = valueAt(spec, 'world.nodes');
  const machines = Number(place.machines ?? (Array.isArray(nodes) ? nodes.length : 1));
  const method = valueAt(spec, 'exchange.method');
  const own = runs.filter((run) => run.machines === machines);
  const byMethod = own.filter(
    (run) => run.method === method || run.method === DEFAULT_METHOD,
  );
  return {
    here: own.filter((run) => run.ranks === ranks && isNear(run.bandwidth, bandwidth)),
    along:
      axisOf(place) === 'ranks'
        ? byMethod.filter((run) => isNear(run.bandwidth, bandwidth))
        : byMethod.filter((run) => run.ranks === ranks),
    bandwidth,
  };
}
