/**
 * The exchanges that Gradwire could make for an observed program, predicted from its tensors and
 * the network. A thread times the methods once, for a second or two beside the program.
 */
import { LOOPBACK } from '../../shared/cost-model/network-cost.ts';
import type { ForecastRecord } from '../../shared/records/forecast.ts';
import {
  scaledForecast,
  type ExchangeForecast,
} from '../../shared/cost-model/exchange-forecast.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import { foreseeExchange } from '../forecast/foresee-exchange.ts';
import { offeredPlans, replacesMomentum } from '../forecast/offered-plans.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { OwnAverages } from './observed-buckets.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

/** Elements that are timed: enough to leave every cache, and few enough to be done soon. */
const TIMED = 4_000_000;

/**
 * Predicts the exchanges of a step.
 * @throws GradwireError if the methods cannot be timed
 */
export async function observedForecast(
  { network, places, plan, spec }: Configuration,
  tensors: readonly FlatTensor[],
  { times, width }: OwnAverages,
): Promise<ForecastRecord> {
  const { ranks } = spec.world;
  const cost = network ?? LOOPBACK;
  // A program's optimiser keeps its own momentum.
  const plans = offeredPlans(plan).filter((one) => !replacesMomentum(one));
  const forecasts = await foreseeExchange({
    tensors,
    plans,
    ranks,
    network: cost,
    places,
    every: undefined,
    most: TIMED,
  });
  const [own] = forecasts[0]!;
  // Records have milliseconds, of all exchanges of a step.
  const recorded = { time: 1000 * times, bytes: times };
  const elements = tensors.reduce((sum, { length }) => sum + length, 0);
  return {
    type: 'forecast',
    at: Date.now(),
    ranks,
    isMeasured: network !== undefined,
    own: scaledForecast(narrowed(own, width), recorded),
    // An element is read and written twice, which takes as long as to add it twice.
    copies: 2000 * times * elements * cost.gamma,
    offered: plans.flatMap(({ label, method }, index) =>
      forecasts[index]!.map((forecast, which) => ({
        method,
        label: label ?? method,
        chosen: which === 0,
        ...scaledForecast(forecast, recorded),
      })),
    ),
  };
}

/** An exchange of narrower elements than ours, which are floats of 32 bits. */
const narrowed = (
  { bandwidth, payloadBytes, wireBytes, ...others }: ExchangeForecast,
  width: number,
): ExchangeForecast => ({
  ...others,
  bandwidth: width * bandwidth,
  payloadBytes: width * payloadBytes,
  wireBytes: width * wireBytes,
});
