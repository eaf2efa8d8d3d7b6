/**
 * Slots for the rows that are drawn of a long list. A row keeps its slot while it is drawn, and one
 * that comes into sight takes the slot of one that went: what was drawn for that is changed rather
 * than made anew, which is several times as fast.
 */
export class RowSlots {
  #slots = new Map<number, number>();

  /**
   * @param rows the rows that are drawn, each once
   * @returns the slot of each, all different
   */
  of(rows: readonly number[]): readonly number[] {
    const kept = new Map(
      rows.flatMap((row) => {
        const slot = this.#slots.get(row);
        return slot === undefined ? [] : [[row, slot] as const];
      }),
    );
    const taken = new Set(kept.values());
    let free = 0;
    for (const row of rows) {
      if (kept.has(row)) continue;
      while (taken.has(free)) free += 1;
      kept.set(row, free);
      free += 1;
    }
    this.#slots = kept;
    return rows.map((row) => kept.get(row)!);
  }
}
