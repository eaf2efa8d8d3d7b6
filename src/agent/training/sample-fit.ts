/** Whether the samples of a data set fit the inputs of a model. */
import { rowLength, type ModelField } from './batches/batch.ts';
import type { Dataset, DatasetField } from './datasets/dataset.ts';
import type { ModelFacts } from './model-facts.ts';

/**
 * Explains why a model cannot take a data set's samples; undefined if it can.
 * @param features of a sample, where the data set has sparse ones
 */
export function misfitOf(
  model: ModelFacts,
  dataset: Dataset,
  features: number | undefined,
): string | undefined {
  for (const [name, wanted] of Object.entries(model.inputs)) {
    const declared = dataset.fields[name];
    // Whole numbers of no known limit name features.
    const field =
      declared?.type === 'i32' && declared.below === undefined
        ? { ...declared, below: features }
        : declared;
    if (field === undefined) {
      const has = Object.keys(dataset.fields).join(', ');
      return `${model.id} needs "${name}", but a sample of ${dataset.id} has only: ${has}`;
    }
    if (field.type !== wanted.type || !fitTogether(wanted.shape, field.shape)) {
      return (
        `"${name}": ${model.id} takes ${described(wanted)}, ` +
        `${dataset.id} has ${described(field)}`
      );
    }
    const { below = Infinity } = field;
    if (wanted.below !== undefined && below !== 'known' && below > wanted.below) {
      return (
        `"${name}": ${model.id} takes at most ${wanted.below} different values, but ` +
        `${dataset.id} has ${field.below ?? 'an unlimited number'}`
      );
    }
  }
  return undefined;
}

/** Whether rows of one length can be those of the other. */
function fitTogether(wanted: ModelField['shape'], had: DatasetField['shape']): boolean {
  if (wanted.includes('any')) return !had.includes('any');
  return had.includes('any') || lengthOf(wanted) === lengthOf(had);
}

/** Numbers in a row; undefined if the length is open. */
function lengthOf(shape: DatasetField['shape']): number | undefined {
  const sizes = shape.filter((size) => typeof size === 'number');
  return sizes.length < shape.length ? undefined : rowLength({ shape: sizes });
}

const described = ({ shape, type }: DatasetField): string =>
  `${lengthOf(shape) ?? 'a varying number of'} ${type === 'f32' ? 'numbers' : 'whole numbers'}`;
