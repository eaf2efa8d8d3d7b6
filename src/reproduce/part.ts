/**
 * A part of a figure's rule: what it says, and the measured values that decide it. Parts are
 * data; `judgement.ts` decides all parts of a figure together, because how sure each has to
 * be depends on their number.
 */
import { formatFactor, formatQuantity } from '../shared/words/units.ts';

/**
 * - `claim`: a part of what the paper says
 * - `control`: shows that these runs could have told; without it nothing is confirmed
 * - `check`: holds by construction, so it tests the implementation and confirms no claim
 */
export type Part =
  | TestedPart
  | { readonly kind: 'check'; readonly text: string; readonly holds: boolean };

export interface TestedPart {
  readonly kind: 'claim' | 'control';
  readonly text: string;
  /** All must hold. */
  readonly tests: readonly Test[];
  /**
   * Set if the tests are readings of one statement that the paper leaves open: it holds if it does by
   * all of them, and fails only if it does by all of them.
   */
  readonly readings?: true;
  /** Set if times were measured, which a busy machine cannot give. */
  readonly timed?: true;
}

/** A quantity with one value per seed, and which of its means make the statement true. */
export interface Test {
  /** A name among the tests of its part: `16 workers`. */
  readonly name?: string;
  readonly values: readonly number[];
  /** Whether large means make the statement true. */
  readonly side: 'atLeast' | 'atMost';
  /** The statement is true of means from here on, to its side. */
  readonly trueAt: number;
  /**
   * The statement is false of means from here on, to the other side. Between the two lie
   * effects that are real but smaller than what counts.
   */
  readonly falseAt: number;
  /** `ratio`: values are positive, and compared by their logarithms. */
  readonly scale: 'difference' | 'ratio';
  readonly format: (value: number) => string;
}

/** Fewer seeds do not show how far chance goes. */
export const LEAST_SEEDS = 5;

/**
 * The smallest ratio of times that SparCML's text reports as a speed-up: 1.12 on CIFAR-10
 * (section 8.3). It calls its 6 % on ImageNet negative (section 8.4). Of the other papers only DCT has a smaller
 * one, 7.04 % less time (Table 5).
 */
export const LEAST_SPEED_UP = 1.12;

export const claim = (text: string, ...tests: readonly Test[]): Part => ({
  kind: 'claim',
  text,
  tests,
});

/** A claim whose words the paper leaves open, tested by each of its readings. */
export const claimByReadings = (text: string, ...tests: readonly Test[]): Part => ({
  kind: 'claim',
  text,
  tests,
  readings: true,
});

/** A claim about times. */
export const timedClaim = (text: string, ...tests: readonly Test[]): Part => ({
  kind: 'claim',
  text,
  tests,
  timed: true,
});

export const control = (text: string, ...tests: readonly Test[]): Part => ({
  kind: 'control',
  text,
  tests,
});

export const check = (text: string, holds: boolean): Part => ({
  kind: 'check',
  text,
  holds,
});

interface Bounds {
  readonly trueAt: number;
  /** Default: `trueAt`, as for a statement with a single bound. */
  readonly falseAt?: number;
  readonly scale?: Test['scale'];
  readonly format?: Test['format'];
}

const bounded = (
  side: Test['side'],
  values: readonly number[],
  { trueAt, falseAt = trueAt, scale = 'difference', format = formatQuantity }: Bounds,
): Test => ({ values, side, trueAt, falseAt, scale, format });

/** The mean is at least a bound. */
export const atLeast = (values: readonly number[], bounds: Bounds): Test =>
  bounded('atLeast', values, bounds);

/** The mean is at most a bound, such as a loss that still counts as none. */
export const atMost = (values: readonly number[], bounds: Bounds): Test =>
  bounded('atMost', values, bounds);

/**
 * One case has more of something than another, in pairs of runs with the same seed: the same
 * initial weights and order of samples.
 * @param margin the smallest difference that counts
 */
export const exceeds = (
  more: readonly number[],
  less: readonly number[],
  margin: number,
  format?: Test['format'],
): Test =>
  atLeast(
    inPairs(more, less, (a, b) => a - b),
    {
      trueAt: margin,
      falseAt: 0,
      ...(format && { format }),
    },
  );

/**
 * Like `exceeds`, by the ratio of the two.
 * @param factor the smallest that counts
 */
export const exceedsTimes = (
  more: readonly number[],
  less: readonly number[],
  factor: number,
): Test =>
  atLeast(
    inPairs(more, less, (a, b) => a / b),
    {
      trueAt: factor,
      falseAt: 1,
      scale: 'ratio',
      format: formatFactor,
    },
  );

/**
 * One case takes less time than another. Other work multiplies times, so their ratios are
 * compared.
 */
export const faster = (
  fast: readonly number[],
  slow: readonly number[],
  factor: number = LEAST_SPEED_UP,
): Test => exceedsTimes(slow, fast, factor);

/** One case takes no more time than another, up to what counts as a difference. */
export const notSlower = (a: readonly number[], b: readonly number[]): Test =>
  atMost(
    inPairs(a, b, (x, y) => x / y),
    {
      trueAt: LEAST_SPEED_UP,
      scale: 'ratio',
      format: formatFactor,
    },
  );

export const named = (name: string, test: Test): Test => ({ ...test, name });

function inPairs(
  a: readonly number[],
  b: readonly number[],
  compare: (a: number, b: number) => number,
): readonly number[] {
  if (a.length !== b.length) {
    throw new Error(`internal: ${a.length} and ${b.length} values do not form pairs`);
  }
  return a.map((value, index) => compare(value, b[index]!));
}
