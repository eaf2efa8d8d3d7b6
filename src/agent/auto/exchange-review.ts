/**
 * Reviews the collectives of a plan: every `WINDOW` exchanges the medians of the agreed
 * observations are compared with the assumptions. A median that is off by more than 20 %
 * replaces the assumption: what a bucket sends, how far it fills in, or a constant of the
 * network. Buckets under `auto` then move to the cheapest collective, if that is worth it,
 * and wait twice as long before they may move again, so that they settle. Times differ from
 * run to run: unless the plan says `adaptive` they change nothing, so that a run can be
 * repeated bit for bit, and are only reported as advice.
 *
 * A pure function of agreed numbers: all ranks decide the same after the same exchange.
 * Also reports, once per plan, if compression takes longer than it saves.
 */
import type { CostTerms } from '../../shared/cost-model/cost-terms.ts';
import {
  correctionAfter,
  isOff,
  UNCORRECTED,
} from '../../shared/cost-model/network-correction.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { median } from '../../shared/numbers/quantile.ts';
import {
  advisedNotice,
  chosenNotice,
  deltaNotice,
  movedNotice,
  notPayingNotice,
} from './auto-notices.ts';
import type { BucketCarrier } from './collective-choice.ts';
import type { Observation, Sums } from './exchange-observation.ts';
import type { NetworkKnowledge } from './network-knowledge.ts';
import { asSeen, bytesOf, unionsOf } from './reduction-shapes.ts';

/** Exchanges per median. */
export const WINDOW = 8;
/** Skipped first exchanges, which pay for caches, scratch and compilation. */
const SETTLING = 2;
/** Windows before compression is judged. */
const JUDGED_AFTER = 2;

export interface ReviewOptions {
  readonly carriers: readonly BucketCarrier[];
  readonly knowledge: NetworkKnowledge;
  /** Whether the method compresses, which may not pay. */
  readonly compresses: boolean;
  /** Whether times may move a bucket; otherwise they only lead to advice. */
  readonly heedsTimes: boolean;
  /** The plan's display name. */
  readonly label: string;
}

/** A review's progress. Plain data. */
export interface ReviewState {
  readonly window: readonly Observation[];
  readonly settling: number;
  readonly windows: number;
  /** Windows to skip, and how many were skipped last time. */
  readonly pause: number;
  readonly lastPause: number;
  readonly judged: boolean;
  readonly advised: boolean;
}

export class ExchangeReview {
  readonly #options: ReviewOptions;
  /** Positions of the buckets whose sums are watched. */
  readonly watched: readonly number[];
  #window: Observation[] = [];
  #settling = SETTLING;
  #windows = 0;
  #pause = 0;
  #lastPause = 0;
  #judged: boolean;
  #advised = false;
  /** The knowledge at the last review: the correction, then the sums of each bucket. */
  #advisedOf: readonly unknown[] = [];

  constructor(options: ReviewOptions) {
    this.#options = options;
    this.watched = options.carriers.flatMap(({ automatic }, index) =>
      automatic ? [index] : [],
    );
    this.#judged = !options.compresses;
  }

  save(): ReviewState {
    return {
      window: this.#window,
      settling: this.#settling,
      windows: this.#windows,
      pause: this.#pause,
      lastPause: this.#lastPause,
      judged: this.#judged,
      advised: this.#advised,
    };
  }

  restore(state: ReviewState): void {
    this.#window = [...state.window];
    this.#settling = state.settling;
    this.#windows = state.windows;
    this.#pause = state.pause;
    this.#lastPause = state.lastPause;
    this.#judged = state.judged;
    this.#advised = state.advised;
  }

  /** The initial choices and their reasons. */
  opening(): readonly Notice[] {
    const { carriers, knowledge } = this.#options;
    const { origin } = knowledge;
    return [
      ...chosenNotice(
        carriers.filter(({ automatic }) => automatic),
        origin,
      ),
      ...deltaNotice(carriers, origin),
    ];
  }

  /** Adds the agreed observation of one exchange; returns consequences for the next. */
  consider(observation: Observation | undefined): readonly Notice[] {
    if (observation === undefined) return [];
    if (this.#settling > 0) {
      this.#settling--;
      return [];
    }
    this.#window.push(observation);
    if (this.#window.length < WINDOW) return [];
    const seen = medians(this.#window);
    this.#window = [];
    this.#windows++;
    const notices = this.#reconsider(seen);
    if (notices.length > 0) return notices;
    return [...this.#advise(), ...this.#judge(seen)];
  }

  /** Tells once per plan what its buckets would move to by measured times. */
  #advise(): readonly Notice[] {
    const { carriers, heedsTimes, knowledge } = this.#options;
    if (heedsTimes || this.#advised) return [];
    // The same knowledge leads to nothing new.
    const known = [knowledge.correction, ...carriers.map(({ shapes }) => shapes)];
    if (known.every((each, i) => each === this.#advisedOf[i])) return [];
    this.#advisedOf = known;
    for (const [index, carrier] of carriers.entries()) {
      const change = carrier.advice(knowledge.cost);
      if (change === undefined) continue;
      this.#advised = true;
      return [advisedNotice(index, change, knowledge.correction)];
    }
    return [];
  }

  #reconsider(seen: Observation): readonly Notice[] {
    if (this.#pause > 0) {
      this.#pause--;
      return [];
    }
    const { carriers, heedsTimes, knowledge } = this.#options;
    const before = knowledge.correction;
    const correction = correctionAfter(seen.seconds, seen.terms, before);
    knowledge.correction = correction;
    const cost = knowledge.costBy(heedsTimes);
    const notices = carriers.flatMap((carrier, index) => {
      const assumed = carrier.shapes;
      const shapes = shapesAfter(assumed, seen.sums[this.watched.indexOf(index)]);
      const told = heedsTimes && correction !== before;
      if (shapes === assumed && !told) return [];
      const change = carrier.reconsider(shapes, cost);
      if (change === undefined) return [];
      const off = heedsTimes ? correction : UNCORRECTED;
      return [movedNotice({ index, carrier, change, assumed, correction: off })];
    });
    if (notices.length > 0) {
      this.#lastPause = Math.max(1, 2 * this.#lastPause);
      this.#pause = this.#lastPause;
      this.#settling = SETTLING;
    }
    return notices;
  }

  #judge(seen: Observation): readonly Notice[] {
    const { carriers, knowledge, compresses, label } = this.#options;
    const compressed = seen.seconds + seen.overhead;
    if (!compresses) knowledge.denseSeconds = compressed;
    if (this.#judged || this.#windows < JUDGED_AFTER) return [];
    this.#judged = true;
    const { cost, denseSeconds } = knowledge;
    const predicted = carriers.reduce(
      (sum, carrier) => sum + carrier.denseSeconds(cost) + carrier.length * cost.gamma,
      0,
    );
    const uncompressed = denseSeconds ?? predicted;
    if (uncompressed > compressed) return [];
    return [
      notPayingNotice({
        label,
        seen,
        uncompressed,
        measured: denseSeconds !== undefined,
      }),
    ];
  }
}

/** The sums to assume from now on; the same object if nothing is off. */
function shapesAfter(
  assumed: BucketCarrier['shapes'],
  seen: Sums | undefined,
): BucketCarrier['shapes'] {
  if (seen === undefined) return assumed;
  const { bytes, nnzReduced } = seen;
  const unionIsOff = nnzReduced !== undefined && isOff(nnzReduced, unionsOf(assumed));
  if (!isOff(bytes, bytesOf(assumed)) && !unionIsOff) return assumed;
  return asSeen(assumed, seen);
}

function medians(window: readonly Observation[]): Observation {
  const of = (pick: (observation: Observation) => number): number =>
    median(window.map(pick))!;
  const term = (name: keyof CostTerms): number => of(({ terms }) => terms[name]);
  return {
    seconds: of(({ seconds }) => seconds),
    overhead: of(({ overhead }) => overhead),
    terms: {
      latency: term('latency'),
      bandwidth: term('bandwidth'),
      reduction: term('reduction'),
    },
    sums: window[0]!.sums.map((_, place) => {
      const seen = window.flatMap(({ sums }) => sums[place] ?? []);
      const bytes = median(seen.map((sums) => sums.bytes));
      if (bytes === undefined) return undefined;
      const unions = seen.flatMap(({ nnzReduced }) => nnzReduced ?? []);
      return { bytes, nnzReduced: median(unions) };
    }),
  };
}
