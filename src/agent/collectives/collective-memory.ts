/**
 * Numbers that collectives keep from one exchange on a stream to the next: thresholds, boundaries,
 * counters. Each key has a few numbers, the same on all ranks because they decide which rank sends
 * what to which. Saved and restored on every rank, they reproduce the same bits.
 */
import { z } from 'zod';
import { failure } from '../../shared/errors/errors.ts';

const saved = z.record(z.string(), z.array(z.number()));

/** Plain data, to be stored as JSON. */
export type SavedMemory = z.infer<typeof saved>;

export class CollectiveMemory {
  readonly #kept = new Map<string, Float64Array>();

  /** The given number of values under this key, initially zeros. */
  numbers(key: string, count: number): Float64Array {
    let numbers = this.#kept.get(key);
    if (numbers?.length !== count) {
      numbers = new Float64Array(count);
      this.#kept.set(key, numbers);
    }
    return numbers;
  }

  clear(): void {
    this.#kept.clear();
  }

  save(): SavedMemory {
    return Object.fromEntries(
      [...this.#kept].map(([key, numbers]) => [key, [...numbers]]),
    );
  }

  /** @throws GradwireError `COLLECTIVE_STATE_INVALID` */
  restore(state: unknown): void {
    const parsed = saved.safeParse(state);
    if (!parsed.success) {
      throw failure(
        'COLLECTIVE_STATE_INVALID',
        'this is not the saved state of a stream',
        {
          next: 'Restore what `save` of a stream returned, on the rank that saved it.',
        },
      );
    }
    this.clear();
    for (const [key, numbers] of Object.entries(parsed.data)) {
      this.#kept.set(key, Float64Array.from(numbers));
    }
  }
}
