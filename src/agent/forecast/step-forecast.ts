/**
 * What a training step would take: the model's computation, which is given, the method's
 * compression as it was rehearsed on this machine, and the exchange as the cost model
 * predicts it, for every method, every collective that can carry it, and any number of
 * ranks. Nothing is assumed to overlap. With more ranks α, β and γ stay as they were
 * measured; entries fill in as E[K] for uniform indices.
 */
import {
  addTerms,
  boundBy,
  NO_COST,
  totalSeconds,
  type CostTerms,
  type StepBound,
} from '../../shared/cost-model/cost-terms.ts';
import { expectedUnion } from '../../shared/cost-model/fill-in.ts';
import {
  scatterSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/exchange-plan.ts';
import type { CollectiveDefinition, ExchangeShape } from '../collectives/collective.ts';
import { predict, predictBroadcast, predictGather } from '../collectives/prediction.ts';
import {
  chooseCollective,
  collectivesFor,
  findCollective,
} from '../collectives/registry.ts';
import { quantizationOf } from '../auto/collective-choice.ts';
import type { Rehearsal, RehearsedMessage } from './rehearsal.ts';

export interface StepForecast {
  readonly ranks: number;
  readonly method: string;
  /** What carries most of its bytes; `allgather` or `broadcast` where nothing is summed. */
  readonly collective: string;
  /** Seconds. */
  readonly compute: number;
  readonly compress: number;
  readonly exchange: number;
  readonly decompress: number;
  readonly step: number;
  /** Of one rank. */
  readonly payloadBytes: number;
  /** What the busiest rank sends, framing excluded. */
  readonly wireBytes: number;
  readonly bound: StepBound;
}

export interface ForecastSetting {
  readonly ranks: number;
  readonly network: NetworkCost;
  /** Seconds of the model's computation in a step. */
  readonly compute: number;
}

/** Every collective that can carry the plan's payloads, or the one that it names. */
export function collectivesOf(
  plan: ExchangePlan,
  { messages }: Rehearsal,
): readonly (CollectiveDefinition | undefined)[] {
  if (!isAutomatic(plan.collective)) return [findCollective(plan.collective)];
  const summed = messages.filter(({ operation }) => operation === 'reduce');
  const largest = heaviest(summed);
  return largest === undefined ? [undefined] : collectivesFor(largest.kind);
}

/** @param collective for the payloads that it takes; others go by the cheapest */
export function forecastStep(
  plan: ExchangePlan,
  rehearsal: Rehearsal,
  collective: CollectiveDefinition | undefined,
  { ranks, network, compute }: ForecastSetting,
): StepForecast {
  let terms: CostTerms = NO_COST;
  let wireBytes = 0;
  let payloadBytes = 0;
  let decompress = rehearsal.decompress;
  for (const message of rehearsal.messages) {
    const shape = shapeOf(message, ranks);
    payloadBytes += message.bytes;
    if (collective?.partial !== true) {
      decompress += moreToDecode(message, shape, network);
    }
    switch (message.operation) {
      case 'reduce': {
        const carrier = carrierOf(message, shape, collective, network);
        const sent = { ...shape, quantization: quantizationOf(plan, carrier) };
        const prediction = predict(carrier, sent, network);
        terms = addTerms(terms, prediction);
        wireBytes += prediction.wireBytes;
        break;
      }
      case 'gather': {
        const prediction = predictGather(shape, network);
        terms = addTerms(terms, prediction);
        wireBytes += prediction.wireBytes;
        // Every rank's payload is decoded; the rehearsal had one.
        decompress += ((ranks - 1) * rehearsal.decompress) / rehearsal.messages.length;
        break;
      }
      case 'broadcast': {
        const prediction = predictBroadcast(shape, network);
        terms = addTerms(terms, prediction);
        wireBytes += prediction.wireBytes;
        break;
      }
      default:
        message.operation satisfies never;
    }
  }
  const { compress } = rehearsal;
  const exchange = totalSeconds(terms);
  const step = { compute, compression: compress + decompress, ...terms };
  return {
    ranks,
    method: plan.method,
    collective: carriedBy(rehearsal, ranks, collective, network),
    compute,
    compress,
    exchange,
    decompress,
    step: compute + compress + exchange + decompress,
    payloadBytes,
    wireBytes,
    bound: boundBy(step),
  };
}

function shapeOf(
  { length, bytes, nnz }: RehearsedMessage,
  ranks: number,
): ExchangeShape {
  return { ranks, length, payloadBytes: bytes, nnz };
}

function carrierOf(
  { kind }: RehearsedMessage,
  shape: ExchangeShape,
  collective: CollectiveDefinition | undefined,
  network: NetworkCost,
): CollectiveDefinition {
  if (collective?.takes.includes(kind) === true) return collective;
  return chooseCollective(kind, shape, network);
}

/**
 * The rehearsal's result had k entries; that of P ranks has K to scatter, or is dense, to
 * be copied and scaled, where that is less.
 */
function moreToDecode(
  { operation, nnz }: RehearsedMessage,
  { length, ranks }: ExchangeShape,
  network: NetworkCost,
): number {
  if (operation !== 'reduce' || nnz === undefined) return 0;
  const more = expectedUnion(length, nnz, ranks) - nnz;
  return Math.min(more * scatterSeconds(network), 2 * length * network.gamma);
}

function carriedBy(
  { messages }: Rehearsal,
  ranks: number,
  collective: CollectiveDefinition | undefined,
  network: NetworkCost,
): string {
  const largest = heaviest(messages);
  if (largest === undefined) return '–';
  if (largest.operation === 'gather') return 'allgather';
  if (largest.operation === 'broadcast') return 'broadcast';
  return carrierOf(largest, shapeOf(largest, ranks), collective, network).id;
}

function heaviest(messages: readonly RehearsedMessage[]): RehearsedMessage | undefined {
  return messages.reduce<RehearsedMessage | undefined>(
    (most, message) =>
      most === undefined || message.bytes > most.bytes ? message : most,
    undefined,
  );
}
