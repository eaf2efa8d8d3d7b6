/** Rows of a list without those that are damaged: one must not hide the others. */
import type { GradwireError } from '../../shared/errors/errors.ts';
import { isInvalidRow } from './stored-json.ts';

export class LegibleRows {
  /** Errors of damaged rows, by the row's key. */
  readonly #damage = new Map<string, GradwireError>();
  readonly #told = new Set<string>();

  read<Row, T>(
    rows: readonly Row[],
    keyOf: (row: Row) => string,
    read: (row: Row) => T,
  ): readonly T[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)];
      } catch (error) {
        if (!isInvalidRow(error)) throw error;
        this.#damage.set(keyOf(row), error);
        return [];
      }
    });
  }

  /** Returns the errors of rows that were left out. Each is told once. */
  takeDamage(): readonly GradwireError[] {
    const fresh = [...this.#damage].filter(([key]) => !this.#told.has(key));
    for (const [key] of fresh) this.#told.add(key);
    return fresh.map(([, error]) => error);
  }
}
