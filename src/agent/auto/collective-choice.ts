/**
 * Which collective carries a bucket: the one that the plan names or, for `auto`, the
 * cheapest by its own cost on this network for the sums that the method's definition
 * expects. All ranks must choose the same, so the choice depends on what the plan says and
 * what all have agreed on, never on what one rank has.
 */
import type { PayloadKind } from '../../shared/catalogue.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/exchange-plan.ts';
import type {
  CollectiveDefinition,
  CollectiveSettings,
  ExchangeShape,
} from '../collectives/collective.ts';
import { predictAll, predictSums, type Prediction } from '../collectives/prediction.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import { carriageOf, type ExpectedMessage } from '../compression/method.ts';
import type { Bucket } from '../plan/buckets.ts';
import { shapeOf } from './reduction-shapes.ts';
import { planOf } from '../plan/tensor-policy.ts';

/**
 * Another collective must be predicted at least 10 % cheaper before a bucket moves to it:
 * what is gained by less is not worth what a wrong prediction costs.
 */
const WORTH_MOVING = 0.9;

/** A bucket that has moved to another collective. */
export interface CarrierChange {
  readonly from: Prediction;
  readonly to: Prediction;
}

/** Plain data. */
export interface SavedCarrier {
  readonly shapes: readonly ExchangeShape[];
  readonly estimated: boolean;
  readonly collective: string | undefined;
}

/** What travels: its kind, and of what size. */
export type Carried = Pick<ExpectedMessage, 'kind' | 'length' | 'bytes'>;

export class BucketCarrier {
  /** Whether the choice is ours. */
  readonly automatic: boolean;
  readonly length: number;
  /** Of the payloads that the plan is about. */
  readonly kind: PayloadKind;
  /** What the method's definition expects of an exchange, what is not summed included. */
  readonly messages: readonly ExpectedMessage[];
  readonly #ranks: number;
  readonly #places: readonly number[] | undefined;
  #network: NetworkCost;
  #shapes: readonly ExchangeShape[];
  #estimated: boolean;
  #collective: CollectiveDefinition | undefined;

  /**
   * @param plan of the whole, whose collective may not fit this bucket's method
   * @param places the node of each rank; default: all are on one
   */
  constructor(
    plan: ExchangePlan,
    bucket: Pick<Bucket, 'length' | 'policy' | 'tensors'>,
    ranks: number,
    network: NetworkCost,
    places?: readonly number[],
  ) {
    const { length, policy, tensors } = bucket;
    const { method, parameters } = policy;
    const { payload, reducible } = carriageOf(method, parameters);
    const own = planOf(plan, policy);
    this.length = length;
    this.kind = payload;
    this.messages = method.messages(parameters, { length, tensors, world: ranks });
    this.#ranks = ranks;
    this.#places = places;
    this.#network = network;
    const sums = this.messages.filter(
      ({ kind, operation }) => operation === 'reduce' && kind === payload,
    );
    this.#shapes = sums.map((message) => shapeOf(message, ranks, places));
    this.#estimated = sums.some(({ estimated }) => estimated === true);
    const summed = reducible && sums.length > 0;
    this.automatic = summed && isAutomatic(own.collective);
    if (summed) {
      const id = this.automatic ? this.#predictions(network)[0]?.collective : undefined;
      this.#collective = findCollective(id ?? own.collective);
    }
  }

  /** Undefined where the payloads are gathered and no collective sums them. */
  get collective(): CollectiveDefinition | undefined {
    return this.#collective;
  }

  /** The sums of an exchange as the choice assumes them. */
  get shapes(): readonly ExchangeShape[] {
    return this.#shapes;
  }

  /** Whether these depend on gradients not yet computed. */
  get estimated(): boolean {
    return this.#estimated;
  }

  /** What could carry it, cheapest first; empty where the choice is not ours. */
  get ranking(): readonly Prediction[] {
    return this.automatic ? this.#predictions(this.#network) : [];
  }

  /**
   * The collective for a payload that is to be summed: the bucket's, or the cheapest for one
   * that it cannot take or, where the choice is ours, that it was not chosen for.
   */
  of(payload: Carried): CollectiveDefinition {
    const collective = this.#collective;
    const usual = !this.automatic || !this.isUnusual(payload);
    if (usual && collective?.takes.includes(payload.kind) === true) return collective;
    return chooseCollective(
      payload.kind,
      shapeOf(payload, this.#ranks, this.#places),
      this.#network,
    );
  }

  /**
   * Whether this sum is not what the plan is about: a warm-up, or the whole bucket of a
   * method that usually sends less. The same on all ranks.
   */
  isUnusual({ kind, length }: Carried): boolean {
    if (kind !== this.kind) return true;
    const whole = kind === 'dense' && length >= this.length;
    return whole && !this.#shapes.some((shape) => shape.length >= this.length);
  }

  /** Seconds of the best dense exchange of this bucket. */
  denseSeconds(network: NetworkCost): number {
    const { length } = this;
    const places = this.#places;
    const shape = { ranks: this.#ranks, places, length, payloadBytes: 4 * length };
    return predictAll('dense', shape, network)[0]!.seconds;
  }

  /** The better collective under these constants; undefined if the current one is best. */
  advice(network: NetworkCost): CarrierChange | undefined {
    if (!this.automatic) return undefined;
    const ranking = this.#predictions(network);
    const to = ranking[0]!;
    const from = ranking.find(({ collective }) => collective === this.#collective?.id)!;
    return to.seconds >= WORTH_MOVING * from.seconds ? undefined : { from, to };
  }

  /** Assumes these sums from now on, and chooses again; what has changed, if anything. */
  reconsider(
    shapes: readonly ExchangeShape[],
    network: NetworkCost,
  ): CarrierChange | undefined {
    this.#estimated &&= shapes === this.#shapes;
    this.#shapes = shapes;
    this.#network = network;
    const change = this.advice(network);
    if (change !== undefined) this.#collective = findCollective(change.to.collective);
    return change;
  }

  /** What was learned of this bucket, for a process that continues with it. */
  save(): SavedCarrier {
    return {
      shapes: this.#shapes,
      estimated: this.#estimated,
      collective: this.#collective?.id,
    };
  }

  /** @param network by which it chooses from now on */
  restore({ shapes, estimated, collective }: SavedCarrier, network: NetworkCost): void {
    this.#shapes = shapes;
    this.#estimated = estimated;
    this.#network = network;
    this.#collective =
      collective === undefined ? undefined : findCollective(collective);
  }

  #predictions(network: NetworkCost): readonly Prediction[] {
    return predictSums(this.kind, this.#shapes, network);
  }
}

/** What the plan says of its own collective, and of no other that carries a payload. */
export function settingsOf(
  { collective, quantizeSums, servers }: ExchangePlan,
  carrier: CollectiveDefinition,
): CollectiveSettings {
  return carrier.id === collective ? { quantization: quantizeSums, servers } : {};
}
