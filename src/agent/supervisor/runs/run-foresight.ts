/** The exchange of a run under another plan, predicted from what the run was launched with. */
import { LOOPBACK } from '../../../shared/cost-model/network-cost.ts';
import { inputError } from '../../../shared/errors/errors.ts';
import type { Foresight } from '../../../shared/orders/foresee.ts';
import { assertForecastable } from '../../../shared/spec/forecastable.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';
import { foreseeExchange } from '../../forecast/foresee-exchange.ts';
import { modelTensors } from '../../forecast/model-tensors.ts';
import type { ForeseenSwitch } from './planned-switches.ts';
import type { RunOptions } from './run-options.ts';

/** @throws GradwireError `FORESIGHT_UNAVAILABLE`, `PLAN_PIPELINE`, `PARALLELISM_MISFIT` */
export async function foreseen(
  { model, network = LOOPBACK, places, spec }: RunOptions,
  { before, fence, planned: { plan } }: ForeseenSwitch,
): Promise<Foresight> {
  if (isProgram(spec.workload)) {
    throw inputError(
      'FORESIGHT_UNAVAILABLE',
      'the tensors of a program of one’s own are known only to its ranks',
      {
        place: 'foresee',
        next: 'Switch without a prediction: its effect is measured afterwards.',
      },
    );
  }
  assertForecastable(spec);
  const tensors = modelTensors(spec, model);
  const [now, then] = await foreseeExchange({
    tensors,
    plans: [before, plan],
    ranks: spec.world.ranks,
    network,
    places,
    every: localStepsOf(spec)?.every,
  });
  return {
    plan,
    fence,
    now: now!,
    then: then!,
    tensors: tensors.map(({ length, name }) => ({ name, length })),
  };
}
