/**
 * Decides whether one case is clearly above another. Runs of the same seed have the same
 * initial weights and the same order of samples, so they are compared in pairs. The effect
 * is the mean of the differences; it is clear if it is larger than their spread (largest
 * minus smallest). A few seeds do not allow a finer test, and effects worth a claim do not
 * need one.
 */
import type { Finding, Outcome } from './figure.ts';
import { mean } from './sweep.ts';

export interface Contrast {
  /** Mean of a − b. */
  readonly effect: number;
  /** Largest minus smallest difference. */
  readonly spread: number;
  readonly a: 'above' | 'below' | 'unclear';
}

/** @param a values by seed, at least two; @param b of the same seeds */
export function contrast(a: readonly number[], b: readonly number[]): Contrast {
  if (a.length !== b.length || a.length < 2) {
    throw new Error(`internal: ${a.length} and ${b.length} values do not form pairs`);
  }
  const differences = a.map((value, index) => value - b[index]!);
  const effect = mean(differences);
  const spread = Math.max(...differences) - Math.min(...differences);
  const clear = Math.abs(effect) > spread;
  return { effect, spread, a: !clear ? 'unclear' : effect > 0 ? 'above' : 'below' };
}

/**
 * Whether a is not above b. Values that cannot be told apart count as not above each
 * other.
 */
export function notAbove(a: readonly number[], b: readonly number[]): Outcome {
  return contrast(a, b).a === 'above' ? 'fails' : 'holds';
}

/** The outcome of a statement: it holds for every seed, fails for every seed, or is unclear. */
export function forEverySeed(
  values: readonly number[],
  holds: (value: number) => boolean,
  fails: (value: number) => boolean = (value) => !holds(value),
): Outcome {
  if (values.every(holds)) return 'holds';
  return values.every(fails) ? 'fails' : 'unclear';
}

/** The outcome of the statement “a is below b”. */
export function below(a: readonly number[], b: readonly number[]): Outcome {
  const { a: position } = contrast(a, b);
  return position === 'unclear' ? 'unclear' : position === 'below' ? 'holds' : 'fails';
}

/**
 * The outcome of the statement “a takes less time than b”. A slowdown of the computer
 * multiplies times, so their logarithms are compared.
 */
export const faster = (a: readonly number[], b: readonly number[]): Outcome =>
  below(a.map(Math.log), b.map(Math.log));

/**
 * The outcome of a statement with several parts: it fails if one part fails, and holds if
 * all hold.
 */
export function allHold(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('fails')) return 'fails';
  const clear = outcomes.length > 0 && outcomes.every((outcome) => outcome === 'holds');
  return clear ? 'holds' : 'unclear';
}

/** The outcome of the statement “a takes no more time than b”. */
export const notSlower = (a: readonly number[], b: readonly number[]): Outcome =>
  notAbove(a.map(Math.log), b.map(Math.log));

/**
 * A statement about several cases: it fails if one fails, holds if all hold, and names the
 * cases for which it does not hold.
 */
export function ofEach(
  text: string,
  parts: readonly { readonly name: string; readonly outcome: Outcome }[],
): Finding {
  for (const outcome of ['fails', 'unclear'] as const) {
    const names = parts.filter((part) => part.outcome === outcome);
    if (names.length > 0) {
      return {
        text: `${text} (${outcome}: ${names.map(({ name }) => name).join(', ')})`,
        outcome,
      };
    }
  }
  return { text, outcome: 'holds' };
}
