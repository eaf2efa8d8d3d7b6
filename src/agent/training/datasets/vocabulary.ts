/**
 * A vocabulary: the tokens of a text that have their own number. It is a function of the
 * training part and of how many tokens a model knows, so that every rank has the same.
 */

/** The number of all unknown tokens. */
export const UNKNOWN = 0;

/** How often each token occurs. */
export type TokenCounts = ReadonlyMap<string, number>;

/** Tokens from the most frequent to the least; of two equally frequent ones by code points. */
export function byFrequency(counts: TokenCounts): readonly string[] {
  return [...counts]
    .sort(([a, often], [b, oftener]) => oftener - often || compareCodePoints(a, b))
    .map(([token]) => token);
}

/** Negative where `a` comes first. UTF-16 would put some above U+FFFF before others below. */
function compareCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export class Vocabulary {
  readonly #numbers: ReadonlyMap<string, number>;

  /**
   * @param tokens in the order of their numbers, from 1 on
   * @param most tokens to know, including the unknown one; rarer ones are left out
   */
  constructor(tokens: readonly string[], most: number) {
    const known = tokens.slice(0, Math.max(0, most - 1));
    this.#numbers = new Map(known.map((token, i) => [token, i + 1]));
  }

  /** Tokens that have a number of their own. */
  get size(): number {
    return this.#numbers.size;
  }

  numberOf(token: string): number {
    return this.#numbers.get(token) ?? UNKNOWN;
  }

  /** The share of all tokens that are not known. */
  unknownShare(counts: TokenCounts): number {
    let all = 0;
    let unknown = 0;
    for (const [token, count] of counts) {
      all += count;
      if (this.numberOf(token) === UNKNOWN) unknown += count;
    }
    return all === 0 ? 0 : unknown / all;
  }
}
