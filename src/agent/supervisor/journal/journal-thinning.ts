/**
 * Decides which details of a journal's older half are left out once the journal has
 * reached its bound. That half should then take a quarter of the bound:
 *
 * - iterations that n divides stay, for all ranks. n is the smallest power of two that
 *   suffices, so that nodes that thin independently agree, and so that thinning again
 *   keeps a subset;
 * - the newest lines that a rank printed stay, up to its share of a quarter of that;
 * - measures and notices stay as long as they fit into such a quarter, and then every m-th;
 * - the run's history stays: starts, switches, interruptions, endings.
 *
 * No I/O: a survey reads the older half once, and the choice that it makes is applied to the
 * same entries in the same order.
 */
import { octave } from '../../../shared/numbers/portable-math.ts';
import type { JournalThinning } from '../../../shared/records/journal-entry.ts';
import { thinningOf } from '../../../shared/records/record-kinds.ts';
import type { SeenEntry } from './journal-frame.ts';

type SeenRecord = SeenEntry['record'];

/** Share of the bound that the older half may take afterwards. */
const OLDER_PART = 1 / 4;
/** Share of that for printed lines, and again for measures and notices. */
const MINOR_PART = 1 / 4;
/** Number of strides, which are powers of two: the last is larger than any number of iterations. */
const STRIDES = 31;

/** Bytes by the largest power of two that divides their number. */
class StrideBytes {
  readonly #bytes = new Float64Array(STRIDES);

  add(number: number, bytes: number): void {
    this.#bytes[exponentOf(number)]! += bytes;
  }

  /** The smallest power of two whose multiples take no more than this. */
  fitting(limit: number): number {
    let kept = this.#bytes.reduce((sum, bytes) => sum + bytes, 0);
    let exponent = 0;
    while (exponent < STRIDES - 1 && kept > limit) kept -= this.#bytes[exponent++]!;
    return 2 ** exponent;
  }

  /** Bytes of the multiples of a power of two. */
  of(stride: number): number {
    return this.#bytes.subarray(octave(stride)).reduce((sum, bytes) => sum + bytes, 0);
  }
}

/** Surveys the older half's entries. */
export class ThinningSurvey {
  readonly #ranks: readonly number[];
  readonly #iterations = new StrideBytes();
  readonly #minor = new StrideBytes();
  readonly #counts = new Ordinals();
  /** Bytes of what each rank printed. */
  readonly #printed = new Map<number, number>();
  /** The first iteration of each rank that is not among them. */
  readonly #next = new Map<number, number>();
  #essential = 0;
  /** Details left out earlier. */
  #earlier: JournalThinning['iterations'] = { to: 0, every: 1 };

  /** @param ranks all ranks that record here */
  constructor(ranks: readonly number[]) {
    this.#ranks = ranks;
  }

  note({ record, thinned }: SeenEntry, bytes: number): void {
    this.#earlier = thinned?.iterations ?? this.#earlier;
    switch (thinningOf(record)) {
      case 'iterations': {
        const { iteration = 0, rank = 0 } = record;
        this.#iterations.add(iteration, bytes);
        this.#next.set(rank, iteration + 1);
        return;
      }
      case 'lines': {
        const { rank = 0 } = record;
        this.#printed.set(rank, (this.#printed.get(rank) ?? 0) + bytes);
        return;
      }
      case 'measures':
        this.#minor.add(this.#counts.next(record), bytes);
        return;
      case 'history':
        this.#essential += bytes;
        return;
    }
  }

  /** Chooses which of them stay, for a journal with this bound in bytes. */
  choose(limitBytes: number): ThinningChoice {
    const older = limitBytes * OLDER_PART;
    const share = older * MINOR_PART;
    const every = this.#minor.fitting(share);
    const perRank = share / this.#ranks.length;
    const excess = new Map<number, number>();
    let rest = older - this.#essential - this.#minor.of(every);
    for (const [rank, bytes] of this.#printed) {
      excess.set(rank, Math.max(0, bytes - perRank));
      rest -= Math.min(bytes, perRank);
    }
    // If a rank has recorded less than the others, their later iterations are incomplete.
    const whole = Math.min(...this.#ranks.map((rank) => this.#next.get(rank) ?? 0));
    return new ThinningChoice({
      minorEvery: every,
      printedExcess: excess,
      earlier: this.#earlier,
      // The last complete one stays, because it shows every rank's progress.
      iterationsTo: Math.max(0, whole - 1),
      iterationEvery: this.#iterations.fitting(Math.max(0, rest)),
    });
  }
}

interface Choice {
  readonly iterationEvery: number;
  readonly minorEvery: number;
  /** Bytes of each rank's oldest lines to drop. */
  readonly printedExcess: Map<number, number>;
  /** Iterations from here on stay. */
  readonly iterationsTo: number;
  readonly earlier: JournalThinning['iterations'];
}

/**
 * The choice of the entries that stay. Call it once for each of the same entries, in the same
 * order.
 */
export class ThinningChoice {
  readonly #choice: Choice;
  readonly #counts = new Ordinals();

  constructor(choice: Choice) {
    this.#choice = choice;
  }

  /** All details left out, including earlier ones. */
  get iterations(): JournalThinning['iterations'] {
    const { earlier, iterationEvery, iterationsTo } = this.#choice;
    if (iterationEvery === 1) return earlier;
    return {
      to: Math.max(earlier.to, iterationsTo),
      every: Math.max(earlier.every, iterationEvery),
    };
  }

  keeps(record: SeenRecord, bytes: number): boolean {
    const { iterationEvery, iterationsTo, minorEvery, printedExcess } = this.#choice;
    switch (thinningOf(record)) {
      case 'iterations': {
        const { iteration = 0 } = record;
        return iteration >= iterationsTo || iteration % iterationEvery === 0;
      }
      case 'lines': {
        const { rank = 0 } = record;
        const excess = printedExcess.get(rank) ?? 0;
        printedExcess.set(rank, excess - bytes);
        return excess <= 0;
      }
      case 'measures':
        return this.#counts.next(record) % minorEvery === 0;
      case 'history':
        return true;
    }
  }
}

/** Numbers the records of each type, from 0. */
class Ordinals {
  readonly #next = new Map<string, number>();

  next({ type }: SeenRecord): number {
    const ordinal = this.#next.get(type) ?? 0;
    this.#next.set(type, ordinal + 1);
    return ordinal;
  }
}

function exponentOf(number: number): number {
  let exponent = 0;
  let odd = number;
  while (exponent < STRIDES - 1 && odd % 2 === 0) {
    odd /= 2;
    exponent++;
  }
  return exponent;
}
