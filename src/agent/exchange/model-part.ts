/** The part of a gradient of which a step is, where models step in turns: that of some models. */
import type { FlatTensor } from '../plan/buckets.ts';
import type { FlatRange } from '../plan/residual-transition.ts';

/** A number that stands for models, a bit for each: there are at most 30. */
export const setOf = (models: readonly number[]): number =>
  models.reduce((set, model) => set | (1 << model), 0);

/** Names of the models in such a number. */
export const namesIn = (set: number, names: readonly string[]): readonly string[] =>
  names.filter((_, model) => (set & (1 << model)) !== 0);

export class ModelPart {
  /** Elements of each of its models, ascending. */
  readonly ranges: readonly FlatRange[];
  /** The number of elements. */
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
