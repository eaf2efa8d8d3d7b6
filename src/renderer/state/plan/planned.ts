/** A plan and the user's own runs of its model. */
import type {
  MeasuredQuery,
  MeasuredStep,
} from '../../../shared/forecast/measured-step.ts';
import type { PlanRequest } from '../../../shared/forecast/plan-request.ts';
import type { StepPlan } from '../../../shared/forecast/step-plan.ts';
import type { Connection } from '../host/host-connection.ts';
import { LatestAnswer } from './latest-answer.svelte.ts';

export interface Planned {
  readonly plan: StepPlan;
  /** Newest first. */
  readonly measured: readonly MeasuredStep[];
}

/** Runs are read again where another model is planned. */
export function plannedSteps(
  connection: Connection,
): LatestAnswer<PlanRequest, Planned> {
  const { api } = connection;
  let known: { readonly key: string; readonly steps: readonly MeasuredStep[] } = {
    key: '',
    steps: [],
  };
  const measuredOf = async (spec: unknown): Promise<readonly MeasuredStep[]> => {
    const { workload } = spec as { readonly workload: MeasuredQuery };
    const { batchPerRank, dataset, model } = workload;
    const key = JSON.stringify([model, dataset, batchPerRank]);
    if (known.key !== key) {
      known = {
        key,
        steps: await api.measuredSteps({ model, dataset, batchPerRank }),
      };
    }
    return known.steps;
  };
  return new LatestAnswer(connection, async (request) => {
    const plan = await api.planStep(request);
    return { plan, measured: await measuredOf(request.spec) };
  });
}
