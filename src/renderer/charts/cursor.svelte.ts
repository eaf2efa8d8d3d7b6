/** The iteration under the cursor, shared by all charts of a run. */
export class Cursor {
  #iteration = $state<number>();

  get iteration(): number | undefined {
    return this.#iteration;
  }

  set iteration(iteration: number | undefined) {
    this.#iteration = iteration;
  }
}

/** The index of the position nearest to a value; positions ascend. −1: there are none. */
export function nearestIndex(positions: readonly number[], value: number): number {
  let low = 0;
  let high = positions.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (positions[middle]! <= value) low = middle;
    else high = middle;
  }
  return value - positions[low]! <= positions[high]! - value ? low : high;
}
