/**
 * Predicts the time of a training step: the given computing time, compression as rehearsed
 * on this machine, and the exchange by the cost model for the messages in the method's
 * definition. It covers every method, every collective that can carry it, and any number of
 * ranks. Buckets are carried as in a run, so `auto` makes the same choices. Nothing is
 * assumed to overlap. If ranks exchange only every few steps, a step has its share of the
 * exchange. With more ranks α, β and γ stay as measured; entries fill in as E[K] for uniform
 * indices.
 */
import {
  addTerms,
  boundBy,
  NO_COST,
  totalSeconds,
  type CostTerms,
} from '../../shared/cost-model/cost-terms.ts';
import { expectedUnion } from '../../shared/cost-model/fill-in.ts';
import {
  scatterSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { StepForecast } from '../../shared/forecast/candidate.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { CollectiveDefinition, ExchangeShape } from '../collectives/collective.ts';
import {
  predict,
  predictBroadcast,
  predictGather,
  type Prediction,
} from '../collectives/prediction.ts';
import { DEFAULT_SERVERS } from '../collectives/server-ranks.ts';
import {
  collectivesFor,
  findCollective,
  isNamedOnly,
} from '../collectives/registry.ts';
import type { ExpectedMessage } from '../methods/method.ts';
import { largestOf, type Bucket } from '../plan/buckets.ts';
import { BucketCarrier, settingsOf } from '../auto/collective-choice.ts';
import { shapeOf } from '../auto/reduction-shapes.ts';
import type { Rehearsal } from './rehearsal.ts';

/** A plan, its buckets of a model's tensors, and their compression times. */
export interface RehearsedPlan extends Rehearsal {
  readonly plan: ExchangePlan;
  readonly buckets: readonly Bucket[];
}

export interface ForecastSetting {
  readonly ranks: number;
  readonly network: NetworkCost;
  /** The node of each rank; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Seconds of the model's computation in a step. */
  readonly compute: number;
  /** Steps per exchange, which share its time; default: 1. */
  readonly every?: number | undefined;
}

export interface ForecastOfPlan extends StepForecast {
  /** Whether `auto` never chooses its collective. */
  readonly namedOnly: boolean;
}

/**
 * The plan with the collective that it names, or first as `auto` would carry it, then
 * with every other collective that can carry its largest bucket.
 */
export function forecastPlan(
  rehearsed: RehearsedPlan,
  setting: ForecastSetting,
): readonly ForecastOfPlan[] {
  const { plan } = rehearsed;
  const carriers = carriersOf(rehearsed, plan.collective, setting);
  const own = forecastOf(rehearsed, carriers, setting);
  if (!isAutomatic(plan.collective)) {
    const namedOnly = isNamedOnly(findCollective(plan.collective));
    return [{ ...own, namedOnly }];
  }
  const { kind, messages } = largestOf(carriers);
  const summed = messages.some(({ operation }) => operation === 'reduce');
  const others = summed
    ? collectivesFor(kind).filter(
        ({ id, forNodes }) =>
          id !== own.collective && (forNodes !== true || isSpread(setting.places)),
      )
    : [];
  return [
    { ...own, namedOnly: false },
    ...others.map((other) => ({
      ...forecastStep(rehearsed, other.id, setting),
      namedOnly: isNamedOnly(other),
    })),
  ];
}

/** @param collective for the buckets that it can carry; `auto` chooses for the others */
export function forecastStep(
  rehearsed: RehearsedPlan,
  collective: string,
  setting: ForecastSetting,
): StepForecast {
  return forecastOf(rehearsed, carriersOf(rehearsed, collective, setting), setting);
}

function carriersOf(
  { plan, buckets }: RehearsedPlan,
  collective: string,
  { ranks, network, places }: ForecastSetting,
): readonly BucketCarrier[] {
  const named = { ...plan, collective };
  return buckets.map(
    (bucket) => new BucketCarrier(named, bucket, ranks, network, places),
  );
}

function forecastOf(
  { plan, ...rehearsal }: RehearsedPlan,
  carriers: readonly BucketCarrier[],
  { ranks, network, places, compute, every = 1 }: ForecastSetting,
): StepForecast {
  let terms: CostTerms = NO_COST;
  let wireBytes = 0;
  let payloadBytes = 0;
  // Every rank's payload is decoded; the rehearsal decoded only one.
  let decompress = rehearsal.decompress + (ranks - 1) * rehearsal.gathered;
  for (const carrier of carriers) {
    for (const message of carrier.messages) {
      const shape = shapeOf(message, ranks, places);
      const prediction = predictMessage(message, shape, carrier, plan, network);
      terms = addTerms(terms, prediction);
      wireBytes += prediction.wireBytes;
      payloadBytes += message.bytes;
      if (carrier.collective?.partial !== true) {
        decompress += moreToDecode(message, shape, network);
      }
    }
  }
  const carrying = largestOf(carriers).collective;
  terms = termsOverSteps(terms, every);
  decompress /= every;
  const compress = rehearsal.compress / every;
  const exchange = totalSeconds(terms);
  const step = { compute, compression: compress + decompress, ...terms };
  return {
    ranks,
    method: plan.method,
    collective: carrying?.id ?? 'allgather',
    ...(carrying?.hasServers === true
      ? {
          servers: Math.min(
            ranks,
            settingsOf(plan, carrying, largestOf(carriers)).servers ?? DEFAULT_SERVERS,
          ),
        }
      : {}),
    compute,
    compress,
    exchange,
    decompress,
    step: compute + compress + exchange + decompress,
    terms,
    payloadBytes: payloadBytes / every,
    wireBytes: wireBytes / every,
    bound: boundBy(step),
  };
}

const termsOverSteps = (
  { bandwidth, latency, reduction }: CostTerms,
  every: number,
): CostTerms => ({
  bandwidth: bandwidth / every,
  latency: latency / every,
  reduction: reduction / every,
});

function predictMessage(
  message: ExpectedMessage,
  shape: ExchangeShape,
  carrier: BucketCarrier,
  plan: ExchangePlan,
  network: NetworkCost,
): Prediction {
  switch (message.operation) {
    case 'reduce': {
      const collective: CollectiveDefinition = carrier.of(message);
      return predict(
        collective,
        { ...shape, ...settingsOf(plan, collective, carrier) },
        network,
      );
    }
    case 'gather':
      return predictGather(shape, network);
    case 'broadcast':
      return predictBroadcast(shape, network);
    default:
      return message.operation satisfies never;
  }
}

/**
 * The rehearsal's result had k entries. With P ranks there are K to scatter, or a dense
 * result to copy and scale, whichever is less.
 */
function moreToDecode(
  { operation, entries }: ExpectedMessage,
  { length, ranks }: ExchangeShape,
  network: NetworkCost,
): number {
  if (operation !== 'reduce' || entries === undefined) return 0;
  const more = expectedUnion(length, entries, ranks) - entries;
  return Math.min(more * scatterSeconds(network), 2 * length * network.gamma);
}

const isSpread = (places: readonly number[] | undefined): boolean =>
  new Set(places).size > 1;
