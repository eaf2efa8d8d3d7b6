/** The thread of `foresee-exchange.ts`: rehearses plans, one after the other, and predicts. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorData } from '../../shared/errors/errors.ts';
import type { ExchangeForecast } from '../../shared/cost-model/exchange-forecast.ts';
import { planBuckets } from '../plan/buckets.ts';
import type { ForeseenExchange, FromForesight } from './foresee-exchange.ts';
import { rehearse } from './rehearsal.ts';
import { forecastStep } from './step-forecast.ts';

async function foresee(question: ForeseenExchange): Promise<FromForesight> {
  const { plans, tensors, ...setting } = question;
  const forecasts: ExchangeForecast[] = [];
  try {
    for (const plan of plans) {
      const buckets = planBuckets(tensors, plan);
      const rehearsal = await rehearse(buckets);
      const { collective, compress, decompress, payloadBytes, terms, wireBytes } =
        forecastStep({ plan, buckets, ...rehearsal }, plan.collective, {
          ...setting,
          compute: 0,
        });
      forecasts.push({
        collective,
        latency: terms.latency,
        bandwidth: terms.bandwidth,
        reduction: terms.reduction,
        compress,
        decompress,
        payloadBytes,
        wireBytes,
      });
    }
    return { type: 'forecasts', forecasts };
  } catch (error) {
    return { type: 'failed', error: toErrorData(error) };
  }
}

parentPort!.postMessage(await foresee(workerData as ForeseenExchange));
