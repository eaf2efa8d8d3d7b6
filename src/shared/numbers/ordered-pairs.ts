/**
 * Pairs of a positive and a negative sample, by their scores: how many are in order. Counted
 * exactly, so the counts say the same of any scores in the same order. −0 and 0 are equal.
 */

/** Scores of samples by class, each ascending. */
export interface ClassScores {
  readonly positives: Float32Array;
  readonly negatives: Float32Array;
}

/** @returns undefined if a score or a class is NaN: it has no place in an order */
export function sortedByClass(
  scores: ArrayLike<number>,
  classes: ArrayLike<number>,
): ClassScores | undefined {
  const [positives, negatives]: [number[], number[]] = [[], []];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (Number.isNaN(score) || Number.isNaN(classes[i])) return undefined;
    (classes[i]! > 0 ? positives : negatives).push(score);
  }
  return {
    positives: Float32Array.from(positives).sort(),
    negatives: Float32Array.from(negatives).sort(),
  };
}

/** Pairs with the positive one higher, ties counted half. */
export function orderedPairs({ negatives, positives }: ClassScores): number {
  return pairsBelow(negatives, positives);
}

/**
 * Counts how many of `these` are below one of `those`, over all of `those`; equal ones count
 * half. Both ascend. The count is exact up to 2⁵³.
 */
export function pairsBelow(these: Float32Array, those: Float32Array): number {
  if (those.length === 0) return 0;
  let below = firstNotBelow(these, those[0]!);
  let notAbove = below;
  let pairs = 0;
  for (const score of those) {
    while (below < these.length && these[below]! < score) below++;
    notAbove = Math.max(notAbove, below);
    while (notAbove < these.length && these[notAbove]! <= score) notAbove++;
    pairs += (below + notAbove) / 2;
  }
  return pairs;
}

/** The place of the first of ascending values that is at least this. */
function firstNotBelow(values: Float32Array, bound: number): number {
  let [first, end] = [0, values.length];
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (values[middle]! < bound) first = middle + 1;
    else end = middle;
  }
  return first;
}
