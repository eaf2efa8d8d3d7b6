/** The exchange of a run under another plan, predicted from what the run was launched with. */
import { LOOPBACK } from '../../../shared/cost-model/network-cost.ts';
import { inputError } from '../../../shared/errors/errors.ts';
import type { Foresight } from '../../../shared/orders/foresee.ts';
import { MOST_TENSORS } from '../../../shared/records/tensors.ts';
import { assertForecastable } from '../../../shared/spec/forecastable.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';
import { foreseeExchange } from '../../forecast/foresee-exchange.ts';
import type { ForeseenSwitch } from './planned-switches.ts';
import type { RunParts } from './run-parts.ts';

/** @throws GradwireError `FORESIGHT_UNAVAILABLE`, `PLAN_PIPELINE`, `PARALLELISM_MISFIT` */
export async function foreseen(
  { model, options }: Pick<RunParts, 'model' | 'options'>,
  { before, fence, planned: { plan } }: ForeseenSwitch,
): Promise<Foresight> {
  const { network = LOOPBACK, places, spec } = options;
  assertForecastable(spec);
  const { tensors } = model;
  if (tensors === undefined) throw untold();
  const forecasts = await foreseeExchange({
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
    now: forecasts[0]![0],
    then: forecasts[1]![0],
    tensors: tensors.map(({ length, name }) => ({ name, length })),
  };
}

const untold = () =>
  inputError(
    'FORESIGHT_UNAVAILABLE',
    'the tensors of this program are not known: it has not built its model yet, has models that step in turns, ' +
      `or more than ${MOST_TENSORS} tensors`,
    {
      place: 'foresee',
      next: 'Switch without a prediction: its effect is measured afterwards.',
    },
  );
