/**
 * A vocabulary: numbers for the most frequent tokens of a text. It depends only on the training
 * part and the size of the model's vocabulary, so that every rank has the same.
 */

/** The number of all unknown tokens. */
const UNKNOWN = 0;

/** Occurrences of each token. */
export type TokenCounts = ReadonlyMap<string, number>;

/** Tokens, most frequent first; equally frequent ones in the order of their code points. */
export function byFrequency(counts: TokenCounts): readonly string[] {
  return [...counts]
    .sort(([a, often], [b, oftener]) => oftener - often || compareCodePoints(a, b))
    .map(([token]) => token);
}

/** Negative if `a` comes first. Comparing UTF-16 units would misplace code points above U+FFFF. */
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
   * @param most size including the unknown token; rarer tokens become unknown
   */
  constructor(tokens: readonly string[], most: number) {
    const known = tokens.slice(0, Math.max(0, most - 1));
    this.#numbers = new Map(known.map((token, i) => [token, i + 1]));
  }

  /** Number of known tokens. */
  get size(): number {
    return this.#numbers.size;
  }

  numberOf(token: string): number {
    return this.#numbers.get(token) ?? UNKNOWN;
  }

  /** The share of a text's tokens that are unknown. */
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
