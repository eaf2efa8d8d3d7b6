/** Means of several quantities, each over the parts in which it was observed. */
export class WeightedMeans<K extends number | string> {
  readonly #sums = new Map<K, { total: number; weight: number }>();

  /** Adds a value with a weight; undefined: not observed. */
  add(key: K, value: number | undefined, weight: number): void {
    if (value === undefined) return;
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, { total: weight * value, weight });
    else {
      sum.total += weight * value;
      sum.weight += weight;
    }
  }

  addAll(
    keys: readonly K[],
    values: Readonly<Partial<Record<K, number | undefined>>>,
    weight: number,
  ): void {
    for (const key of keys) this.add(key, values[key], weight);
  }

  mean(key: K): number | undefined {
    const sum = this.#sums.get(key);
    return sum === undefined || sum.weight === 0 ? undefined : sum.total / sum.weight;
  }

  means(): ReadonlyMap<K, number> {
    return new Map(
      [...this.#sums.keys()].flatMap((key) => {
        const mean = this.mean(key);
        return mean === undefined ? [] : [[key, mean] as const];
      }),
    );
  }
}
