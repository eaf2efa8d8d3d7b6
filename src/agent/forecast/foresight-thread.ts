/** The thread of `foresee-exchange.ts`: rehearses plans, one after the other, and predicts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ExchangeForecast } from '../../shared/cost-model/exchange-forecast.ts';
import { toErrorData } from '../../shared/errors/errors.ts';
import type { StepForecast } from '../../shared/forecast/candidate.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { planBuckets, type FlatTensor } from '../plan/buckets.ts';
import type {
  ForeseenExchange,
  FromForesight,
  PlanForecasts,
} from './foresee-exchange.ts';
import { rehearse, type Rehearsal } from './rehearsal.ts';
import { scaledTensors } from './scaled-tensors.ts';
import { forecastPlan } from './step-forecast.ts';

async function foresee(question: ForeseenExchange): Promise<FromForesight> {
  const { most, plans, tensors, ...setting } = question;
  const forecasts: PlanForecasts[] = [];
  try {
    for (const plan of plans) {
      const rehearsal = await rehearsed(tensors, plan, most);
      const [first, ...others] = forecastPlan(
        { plan, buckets: planBuckets(tensors, plan), ...rehearsal },
        { ...setting, compute: 0 },
      );
      // What `auto` never takes changes what is exchanged, and must be named.
      const free = others.filter(({ namedOnly }) => !namedOnly);
      forecasts.push([exchangeOf(first!), ...free.map(exchangeOf)]);
    }
    return { type: 'forecasts', forecasts };
  } catch (error) {
    return { type: 'failed', error: toErrorData(error) };
  }
}

async function rehearsed(
  tensors: readonly FlatTensor[],
  plan: ExchangePlan,
  most = Infinity,
): Promise<Rehearsal> {
  const all = elementsOf(tensors);
  if (all <= most) return await rehearse(planBuckets(tensors, plan));
  const smaller = scaledTensors(tensors, most);
  const share = all / elementsOf(smaller);
  const { compress, decompress, gathered } = await rehearse(planBuckets(smaller, plan));
  return {
    compress: share * compress,
    decompress: share * decompress,
    gathered: share * gathered,
  };
}

const elementsOf = (tensors: readonly FlatTensor[]): number =>
  tensors.reduce((sum, { length }) => sum + length, 0);

const exchangeOf = ({
  collective,
  compress,
  decompress,
  payloadBytes,
  terms,
  wireBytes,
}: StepForecast): ExchangeForecast => ({
  collective,
  latency: terms.latency,
  bandwidth: terms.bandwidth,
  reduction: terms.reduction,
  compress,
  decompress,
  payloadBytes,
  wireBytes,
});

parentPort!.postMessage(await foresee(workerData as ForeseenExchange));
