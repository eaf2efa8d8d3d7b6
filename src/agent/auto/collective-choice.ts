/**
 * Chooses the collective that carries a bucket: the one that the plan names or, for `auto`, the
 * cheapest by its own cost on this network for the sums that the method's definition expects. All
 * ranks must choose the same, so the choice depends only on the plan and on agreed observations,
 * never on one rank's own.
 */
import type { PayloadKind } from '../../shared/catalogue/catalogue.ts';
import { bestDelta } from '../collectives/best-delta.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type {
  CollectiveDefinition,
  CollectiveSettings,
  ExchangeShape,
} from '../collectives/collective.ts';
import { predictAll, predictSums, type Prediction } from '../collectives/prediction.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import { carriageOf, type ExpectedMessage } from '../methods/method.ts';
import type { Bucket } from '../plan/buckets.ts';
import { shapeOf } from './reduction-shapes.ts';
import { planOf } from '../plan/tensor-policy.ts';

/**
 * Another collective must be predicted at least 10 % cheaper before a bucket moves to it:
 * a smaller gain is not worth the cost of a wrong prediction.
 */
const WORTH_MOVING = 0.9;

/** Bytes of a gradient's value. */
const GRADIENT_BYTES = 4;

/** A bucket that has moved to another collective. */
export interface CarrierChange {
  readonly from: Prediction;
  readonly to: Prediction;
}

/** Plain data. */
export interface SavedCarrier {
  /** Absent in states of plans without δ. */
  readonly delta?: number | undefined;
  readonly shapes: readonly ExchangeShape[];
  readonly estimated: boolean;
  readonly collective: string | undefined;
}

/** The payload's kind and size. */
export type Carried = Pick<ExpectedMessage, 'kind' | 'length' | 'bytes' | 'valueBytes'>;

export class BucketCarrier {
  /** Whether `auto` chooses. */
  readonly automatic: boolean;
  /** Whether δ is `auto`. */
  readonly choosesDelta: boolean;
  readonly length: number;
  /** The kind of the plan's usual payloads. */
  readonly kind: PayloadKind;
  /**
   * All messages that the method's definition expects, including those that are not
   * summed.
   */
  readonly messages: readonly ExpectedMessage[];
  readonly #ranks: number;
  readonly #places: readonly number[] | undefined;
  #network: NetworkCost;
  #delta: number | undefined;
  #shapes: readonly ExchangeShape[];
  #estimated: boolean;
  #collective: CollectiveDefinition | undefined;

  /**
   * @param plan the whole plan, whose collective may not fit this bucket's method
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
    const delta = payload === 'sparse' ? plan.delta : undefined;
    this.choosesDelta = delta === 'auto';
    this.#delta =
      delta === 'auto'
        ? bestDelta(network, length, GRADIENT_BYTES, new Set(places).size > 1)
        : delta;
    this.#shapes = sums.map((message) => this.#shapeOf(message));
    this.#estimated = sums.some(({ estimated }) => estimated === true);
    const summed = reducible && sums.length > 0;
    this.automatic = summed && isAutomatic(own.collective);
    if (summed) {
      const id = this.automatic ? this.#predictions(network)[0]?.collective : undefined;
      this.#collective = findCollective(id ?? own.collective);
    }
  }

  /** The collective in use; undefined if the payloads are gathered rather than summed. */
  get collective(): CollectiveDefinition | undefined {
    return this.#collective;
  }

  /**
   * δ/N at which this bucket's streams turn dense; undefined: where both forms take as many
   * bytes. `auto` chooses it once, when the plan begins, by costs that all ranks have.
   */
  get delta(): number | undefined {
    return this.#delta;
  }

  /** The sums of an exchange that the choice assumes. */
  get shapes(): readonly ExchangeShape[] {
    return this.#shapes;
  }

  /** Whether these depend on gradients not yet computed. */
  get estimated(): boolean {
    return this.#estimated;
  }

  /** Candidate collectives, cheapest first; empty if the plan names one. */
  get ranking(): readonly Prediction[] {
    return this.automatic ? this.#predictions(this.#network) : [];
  }

  /**
   * The collective for a payload to be summed: the bucket's, or the cheapest if that cannot
   * carry the payload or, under `auto`, was not chosen for such a payload.
   */
  of(payload: Carried): CollectiveDefinition {
    const collective = this.#collective;
    const usual = !this.automatic || !this.isUnusual(payload);
    if (usual && collective?.takes.includes(payload.kind) === true) return collective;
    return chooseCollective(payload.kind, this.#shapeOf(payload), this.#network);
  }

  /**
   * Whether this sum is unusual for the plan: a warm-up, or the whole bucket of a
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

  /**
   * Assumes these sums from now on, and chooses again; returns what has changed, if
   * anything.
   */
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

  /** Saves what was learnt about this bucket, for a process that resumes. */
  save(): SavedCarrier {
    return {
      ...(this.#delta === undefined ? {} : { delta: this.#delta }),
      shapes: this.#shapes,
      estimated: this.#estimated,
      collective: this.#collective?.id,
    };
  }

  /** @param network the network by which it chooses from now on */
  restore(
    { delta, shapes, estimated, collective }: SavedCarrier,
    network: NetworkCost,
  ): void {
    this.#delta = delta;
    this.#shapes = shapes;
    this.#estimated = estimated;
    this.#network = network;
    this.#collective =
      collective === undefined ? undefined : findCollective(collective);
  }

  #shapeOf(message: Parameters<typeof shapeOf>[0]): ExchangeShape {
    const shape = shapeOf(message, this.#ranks, this.#places);
    return this.#delta === undefined ? shape : { ...shape, delta: this.#delta };
  }

  #predictions(network: NetworkCost): readonly Prediction[] {
    return predictSums(this.kind, this.#shapes, network);
  }
}

/**
 * Settings of an exchange by a collective: δ, which all have that send streams, and those of
 * the plan's own collective, which others that may be chosen do not have.
 */
export function settingsOf(
  { collective, quantizeSums, servers }: ExchangePlan,
  chosen: CollectiveDefinition,
  { delta }: Pick<BucketCarrier, 'delta'>,
): CollectiveSettings {
  return chosen.id === collective
    ? { quantization: quantizeSums, servers, delta }
    : { delta };
}
