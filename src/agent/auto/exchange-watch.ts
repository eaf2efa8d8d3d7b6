/**
 * Watches the exchanges of a plan: notes every message's prediction by the cost model
 * and the fill-in of its result, lets the ranks agree on them with the next exchange's
 * control message, and passes them to the review.
 *
 * Cost: a message's prediction is computed again only when it changes; for a dense
 * result about 16,000 elements are sampled.
 */
import type { CostTerms } from '../../shared/cost-model/cost-terms.ts';
import {
  describePlan,
  heedsTimes,
  type ExchangePlan,
} from '../../shared/plan/exchange-plan.ts';
import { octave } from '../../shared/numbers/portable-math.ts';
import type { Notice } from '../../shared/records/notice.ts';
import type { CollectiveDefinition, ExchangeShape } from '../collectives/collective.ts';
import { predict, predictBroadcast, predictGather } from '../collectives/prediction.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';
import type { CommunicationRequest } from '../methods/method.ts';
import type { Arena } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { compresses } from '../plan/tensor-policy.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import {
  settingsOf,
  type BucketCarrier,
  type SavedCarrier,
} from './collective-choice.ts';
import {
  ExchangeRecorder,
  observationOf,
  type Finished,
} from './exchange-observation.ts';
import { ExchangeReview, type ReviewState } from './exchange-review.ts';
import type { NetworkKnowledge, SavedKnowledge } from './network-knowledge.ts';
import { shapeOf } from './reduction-shapes.ts';

export interface WatchOptions {
  readonly plan: ExchangePlan;
  readonly carriers: readonly BucketCarrier[];
  readonly ranks: number;
  /** The node of each rank; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  readonly arena: Arena;
  readonly knowledge: NetworkKnowledge;
}

/** Plain data, the same on all ranks except for `finished`. */
export interface WatchState {
  readonly knowledge: SavedKnowledge;
  readonly carriers: readonly SavedCarrier[];
  readonly review: ReviewState;
  /** The last exchange, not yet agreed on. */
  readonly finished: Finished | undefined;
}

/** Sampled elements of a dense result, which give K within a few per cent. */
const SAMPLE = 16_384;

interface Foreseen {
  readonly bytes: number;
  readonly collective: CollectiveDefinition | undefined;
  /** Costs by the entries of the sum. */
  readonly terms: Map<number | undefined, CostTerms>;
}

/**
 * The significant bits kept of a sum's number of entries, which varies from exchange to exchange:
 * predicting again each time would take longer than the summation. At most 1.6 % too low.
 */
const UNION_BITS = 7;

function rounded(union: number): number {
  const unit = 2 ** Math.max(0, octave(union + 1) + 1 - UNION_BITS);
  return unit * Math.floor(union / unit);
}

export class ExchangeWatch {
  readonly #options: WatchOptions;
  readonly #review: ExchangeReview;
  readonly #recorder: ExchangeRecorder;
  /** Predictions for the messages of each bucket, in order. */
  readonly #foreseen: Foreseen[][];
  readonly #messages: number[];
  #notices: Notice[];

  constructor(options: WatchOptions) {
    const { carriers, knowledge, plan, ranks } = options;
    this.#options = options;
    this.#review = new ExchangeReview({
      carriers,
      knowledge,
      compresses: compresses(plan),
      heedsTimes: heedsTimes(plan.collective),
      // It watches only the exchange of gradients.
      label: describePlan({ ...plan, activations: undefined }),
    });
    this.#recorder = new ExchangeRecorder(this.#review.watched.length, ranks);
    this.#foreseen = carriers.map(() => []);
    this.#messages = carriers.map(() => 0);
    this.#notices = ranks === 1 ? [] : [...this.#review.opening()];
  }

  /** Returns the state between two exchanges. */
  save(): WatchState {
    const { carriers, knowledge } = this.#options;
    return {
      knowledge: knowledge.save(),
      carriers: carriers.map((carrier) => carrier.save()),
      review: this.#review.save(),
      finished: this.#recorder.save(),
    };
  }

  /** Restores the state of a watch of the same plan, whose opening notice was already sent. */
  restore(state: WatchState): void {
    const { carriers, knowledge, plan } = this.#options;
    knowledge.restore(state.knowledge);
    const network = knowledge.costBy(heedsTimes(plan.collective));
    for (const [index, carrier] of carriers.entries()) {
      carrier.restore(state.carriers[index]!, network);
    }
    this.#review.restore(state.review);
    this.#recorder.restore(state.finished);
    this.#notices = [];
  }

  /** The numbers for the next control message, and how they combine. */
  get report(): readonly number[] {
    return this.#recorder.report;
  }

  get operations(): readonly SmallOperation[] {
    return this.#recorder.operations;
  }

  /** A message of a bucket has completed. `collective`: for a reduction. */
  answered(
    index: number,
    { operation, payload }: CommunicationRequest,
    collective: CollectiveDefinition | undefined,
    combined: Combined,
  ): void {
    const { carriers } = this.#options;
    const { automatic } = carriers[index]!;
    const { kind, length, data } = payload;
    const nnzReduced =
      automatic && payload.kind === 'sparse'
        ? this.#union(payload, combined)
        : undefined;
    this.#recorder.message(
      this.#foresee(index, operation, payload, collective, nnzReduced),
    );
    if (operation !== 'reduce') return;
    if (carriers[index]!.isUnusual({ kind, length, bytes: data.bytes })) {
      this.#recorder.disregard();
      return;
    }
    const watched = this.#review.watched.indexOf(index);
    if (watched < 0) return;
    this.#recorder.summed(watched, { bytes: data.bytes, nnzReduced });
  }

  /**
   * The exchange has ended, with this profile.
   * @param now milliseconds of a clock of this process
   */
  finish({ phases }: ExchangeProfile, now = performance.now()): void {
    const { send, receive, wait, reduce, compress, decompress } = phases;
    this.#recorder.finish(
      (send + receive + wait + reduce) / 1000,
      (compress + decompress) / 1000,
      now / 1000,
    );
    this.#messages.fill(0);
  }

  /**
   * Takes the agreed observation of an exchange, which may change how the next is
   * carried.
   */
  consider(agreed: readonly number[]): void {
    this.#notices.push(...this.#review.consider(observationOf(agreed)));
  }

  /** New notices since the last call, the same on all ranks. */
  takeNotices(): readonly Notice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  #foresee(
    index: number,
    operation: CommunicationRequest['operation'],
    payload: Payload,
    collective: CollectiveDefinition | undefined,
    entriesOfSum: number | undefined,
  ): CostTerms {
    const bytes = payload.data.bytes;
    const union = entriesOfSum === undefined ? undefined : rounded(entriesOfSum);
    const place = this.#messages[index]!++;
    let known = this.#foreseen[index]![place];
    if (known?.bytes !== bytes || known.collective !== collective) {
      known = { bytes, collective, terms: new Map() };
      this.#foreseen[index]![place] = known;
    }
    const foreseen = known.terms.get(union);
    if (foreseen !== undefined) return foreseen;
    const { carriers, plan, ranks, places, knowledge } = this.#options;
    const { constants } = knowledge;
    const { kind, length } = payload;
    const entries = payload.kind === 'sparse' ? payload.count : undefined;
    const shape: ExchangeShape = {
      ...shapeOf({ kind, length, bytes, entries }, ranks, places),
      nnzReduced: union,
      ...(collective && settingsOf(plan, collective, carriers[index]!)),
    };
    const terms =
      operation === 'reduce'
        ? predict(collective!, shape, constants)
        : operation === 'gather'
          ? predictGather(shape, constants)
          : predictBroadcast(shape, constants);
    known.terms.set(union, terms);
    return terms;
  }

  /** K, or its estimate from a sample of a dense result; the same on all ranks. */
  #union(payload: Payload, combined: Combined): number {
    if (combined.form === 'sparse' || combined.form === 'streams')
      return combined.count;
    if (combined.form === 'gathered') return 0;
    const { length } = payload;
    const step = Math.max(1, Math.floor(length / SAMPLE));
    const bits = this.#options.arena.u32(combined.data.offset, length);
    let seen = 0;
    let filled = 0;
    for (let at = step >> 1; at < length; at += step) {
      seen++;
      if (bits[at]! << 1 !== 0) filled++;
    }
    return seen === 0 ? 0 : Math.round((length * filled) / seen);
  }
}
