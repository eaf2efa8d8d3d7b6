/**
 * Predicts the exchanges of a run in progress under other plans, in a thread of its own, because
 * the rehearsal computes for as long as a few exchanges take.
 */
import { Worker } from 'node:worker_threads';
import type { ExchangeForecast } from '../../shared/cost-model/exchange-forecast.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import type { FlatTensor } from '../plan/buckets.ts';

const THREAD = { bundle: 'foresight-thread.js', source: 'foresight-thread.ts' };

export interface ForeseenExchange {
  readonly tensors: readonly FlatTensor[];
  readonly plans: readonly ExchangePlan[];
  readonly ranks: number;
  readonly network: NetworkCost;
  readonly places: readonly number[] | undefined;
  /** Steps per exchange. */
  readonly every: number | undefined;
  /**
   * Most elements that are timed: of a larger model a smaller one of the same form stands for it, in
   * proportion. Default: all.
   */
  readonly most?: number | undefined;
}

/** A plan by the collective that it names or `auto` takes, then by the others that can carry it. */
export type PlanForecasts = readonly [ExchangeForecast, ...ExchangeForecast[]];

export type FromForesight =
  | { readonly type: 'forecasts'; readonly forecasts: readonly PlanForecasts[] }
  | { readonly type: 'failed'; readonly error: ErrorData };

/** @returns forecasts of each plan, in their order */
export async function foreseeExchange(
  question: ForeseenExchange,
): Promise<readonly PlanForecasts[]> {
  const file = bundledFile(THREAD, import.meta.dirname);
  const thread = new Worker(file, { workerData: question });
  const answer = await new Promise<FromForesight>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      reject(new Error('internal: the foresight ended without an answer'));
    });
  });
  if (answer.type === 'failed') throw new GradwireError(answer.error);
  return answer.forecasts;
}
