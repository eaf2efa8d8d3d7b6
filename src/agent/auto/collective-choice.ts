/**
 * Which collective carries a bucket: the one that the plan names or, for `auto`, the
 * cheapest by its own cost on this network. All ranks must choose the same, so the choice
 * goes by what the plan says and what all have agreed on, never by what one rank has.
 */
import type { PayloadKind } from '../../shared/catalogue.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/exchange-plan.ts';
import type {
  CollectiveDefinition,
  ExchangeShape,
  Quantization,
} from '../collectives/collective.ts';
import { unionOf } from '../collectives/fill-in.ts';
import { predictAll, type Prediction } from '../collectives/prediction.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import type { Payload } from '../memory/payload.ts';
import type { Carriage } from '../compression/method.ts';
import { entriesSent } from '../compression/policy/ratio-schedule.ts';
import type { Bucket } from '../plan/buckets.ts';

/** Of a method that does not say how much it sends: corrected once it has been seen. */
const UNKNOWN_RATIO = 0.01;
/**
 * Another collective has to be predicted so much cheaper to be moved to: what is gained by
 * less is not worth what a wrong prediction costs.
 */
const WORTH_MOVING = 0.9;

/** A bucket that has moved to another collective. */
export interface CarrierChange {
  readonly from: Prediction;
  readonly to: Prediction;
}

export class BucketCarrier {
  /** Whether the choice is ours. */
  readonly automatic: boolean;
  readonly length: number;
  readonly kind: PayloadKind;
  readonly #ranks: number;
  readonly #reducible: boolean;
  #network: NetworkCost;
  #shape: ExchangeShape;
  #collective: CollectiveDefinition | undefined;

  /** @param plan of the bucket's tensors, whose collective can carry them */
  constructor(
    plan: ExchangePlan,
    { payload, reducible }: Carriage,
    bucket: Pick<Bucket, 'length'>,
    ranks: number,
    network: NetworkCost,
  ) {
    this.automatic = reducible && isAutomatic(plan.collective);
    this.length = bucket.length;
    this.kind = payload;
    this.#ranks = ranks;
    this.#reducible = reducible;
    this.#network = network;
    this.#shape = expectedShape(plan, payload, bucket.length, ranks);
    if (!reducible) return;
    this.#collective = this.automatic
      ? chooseCollective(payload, this.#shape, network)
      : findCollective(plan.collective);
  }

  /** Undefined where the payloads are gathered and no collective sums them. */
  get collective(): CollectiveDefinition | undefined {
    return this.#collective;
  }

  /** What the choice assumes of an exchange. */
  get shape(): ExchangeShape {
    return this.#shape;
  }

  /** K as it is assumed. */
  get expectedUnion(): number {
    return unionOf(this.#shape, this.#ranks);
  }

  /** What could carry it, cheapest first; empty where the choice is not ours. */
  get ranking(): readonly Prediction[] {
    return this.automatic ? predictAll(this.kind, this.#shape, this.#network) : [];
  }

  /**
   * The bucket's collective, or the cheapest for a payload that it cannot take: the dense
   * part of a method that mostly sends something else.
   */
  of({ kind, length, data }: Payload): CollectiveDefinition {
    const collective = this.#collective;
    if (collective?.takes.includes(kind) === true) return collective;
    const shape = { ranks: this.#ranks, length, payloadBytes: data.bytes };
    return chooseCollective(kind, shape, this.#network);
  }

  /** Seconds of the best dense exchange of this bucket. */
  denseSeconds(network: NetworkCost): number {
    const { length } = this;
    const shape = { ranks: this.#ranks, length, payloadBytes: 4 * length };
    return predictAll('dense', shape, network)[0]!.seconds;
  }

  /** What these constants would have it move to; undefined: it is well where it is. */
  advice(network: NetworkCost): CarrierChange | undefined {
    if (!this.automatic || !this.#reducible) return undefined;
    const ranking = predictAll(this.kind, this.#shape, network);
    const to = ranking[0]!;
    const from = ranking.find(({ collective }) => collective === this.#collective?.id)!;
    return to.seconds >= WORTH_MOVING * from.seconds ? undefined : { from, to };
  }

  /** Goes by these numbers from now on; what has changed by it, if anything. */
  reconsider(shape: ExchangeShape, network: NetworkCost): CarrierChange | undefined {
    this.#shape = shape;
    this.#network = network;
    const change = this.advice(network);
    if (change !== undefined) this.#collective = findCollective(change.to.collective);
    return change;
  }
}

/** By what the plan says: how much a method with a ratio or a count will send. */
function expectedShape(
  { parameters }: ExchangePlan,
  payload: PayloadKind,
  length: number,
  ranks: number,
): ExchangeShape {
  if (payload === 'scalars') return { ranks, length, payloadBytes: 8 };
  if (payload !== 'sparse') return { ranks, length, payloadBytes: 4 * length };
  const ratio = typeof parameters.ratio === 'number' ? parameters.ratio : UNKNOWN_RATIO;
  const k = typeof parameters.k === 'number' ? parameters.k : 0;
  const nnz = entriesSent(length, { ratio, k });
  return { ranks, length, payloadBytes: 8 * nnz, nnz };
}

/** What the plan's own collective sends is quantised, and nothing else. */
export function quantizationOf(
  { collective, quantizeSums }: ExchangePlan,
  carrier: CollectiveDefinition,
): Quantization | undefined {
  return carrier.id === collective ? quantizeSums : undefined;
}
