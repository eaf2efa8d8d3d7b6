/** Patterns of names for `exchange.layers` that distinguish given tensors. */
export interface NamedChoice<T> {
  readonly name: string;
  readonly choice: T;
}

export interface PatternChoice<T> {
  readonly match: string;
  readonly choice: T;
}

/**
 * The first matching pattern gives a name's choice; names without a match get the default.
 * Uses few patterns: the last or first part of names if all remaining names agree on it,
 * otherwise whole names.
 */
export function layerPatterns<T>(
  tensors: readonly NamedChoice<T>[],
  standard: T,
): readonly PatternChoice<T>[] {
  const patterns: PatternChoice<T>[] = [];
  let left = tensors;
  for (;;) {
    const next = left.find(({ choice }) => choice !== standard);
    if (next === undefined) return patterns;
    const { name, choice } = next;
    const parts = name.split('.');
    const tried = [
      {
        match: `*.${parts.at(-1)!}`,
        fits: (of: string) => of.endsWith(`.${parts.at(-1)!}`),
      },
      { match: `${parts[0]!}.*`, fits: (of: string) => of.startsWith(`${parts[0]!}.`) },
    ];
    const found = tried.find(({ fits }) => {
      const meant = left.filter((tensor) => fits(tensor.name));
      return meant.length > 1 && meant.every((tensor) => tensor.choice === choice);
    });
    const { match, fits } = found ?? { match: name, fits: (of: string) => of === name };
    patterns.push({ match, choice });
    left = left.filter((tensor) => !fits(tensor.name));
  }
}
