/** The part of a gradient that one step exchanges where models step in turns: that of some models. */
import type { FlatTensor } from '../plan/buckets.ts';
import type { FlatRange } from '../plan/residual-transition.ts';

/** A set of models as a number with a bit for each; a program has at most 30. */
export const setOf = (models: readonly number[]): number =>
  models.reduce((set, model) => set | (1 << model), 0);

/** Names of the models in a set from `setOf`. */
export const namesIn = (set: number, names: readonly string[]): readonly string[] =>
  names.filter((_, model) => (set & (1 << model)) !== 0);

export class ModelPart {
  /** Elements that belong to the models, in ascending ranges. */
  readonly ranges: readonly FlatRange[];
  /** The number of elements in all ranges. */
  readonly length: number;
  readonly #set: number;

  /** @param set of models, from `setOf` */
  constructor(tensors: readonly FlatTensor[], set: number) {
    this.#set = set;
    const ranges = new Map<number, FlatRange>();
    for (const { length, model, start } of tensors) {
      if (model === undefined || !this.has({ model })) continue;
      const before = ranges.get(model);
      ranges.set(model, {
        start: before?.start ?? start,
        length: (before?.length ?? 0) + length,
      });
    }
    this.ranges = [...ranges.values()];
    this.length = this.ranges.reduce((sum, range) => sum + range.length, 0);
  }

  /** Whether a bucket, or a tensor, belongs to one of its models. */
  has({ model }: { readonly model?: number | undefined }): boolean {
    return model !== undefined && (this.#set & (1 << model)) !== 0;
  }
}
