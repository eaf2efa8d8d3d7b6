/**
 * A batch: named arrays with one row for each sample. A model states which it takes, a
 * data set which it has; the two are compared before training.
 */

export interface BatchField {
  readonly type: 'f32' | 'i32';
  /** Shape of one sample's row; [] is a single number. */
  readonly shape: readonly number[];
  /** Whole numbers are 0…below−1: classes, or the tokens of a vocabulary. */
  readonly below?: number | undefined;
}

export type BatchFields = Readonly<Record<string, BatchField>>;

/** A field that a model takes; a length of `any` is the data set's. */
export interface ModelField extends Omit<BatchField, 'shape'> {
  readonly shape: readonly (number | 'any')[];
}

export type ModelFields = Readonly<Record<string, ModelField>>;

/** Fields of settled lengths. @param lengths what `any` is, by field; default: 1 */
export function settledFields(
  fields: ModelFields,
  lengths: Readonly<Record<string, number>> = {},
): BatchFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...field, shape: settledShape(field, lengths[name] ?? 1) },
    ]),
  );
}

/** A shape in which `any` is this length. */
function settledShape({ shape }: ModelField, length: number): readonly number[] {
  return shape.map((size) => (size === 'any' ? length : size));
}

/** Numbers in one sample's row if `any` is this length. */
export function settledLength(field: ModelField, length: number): number {
  return rowLength({ shape: settledShape(field, length) });
}

/** The rows of one field, one after the other. */
type FieldValues = Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>;
export type BatchValues = Readonly<Record<string, FieldValues>>;

/** Numbers in one sample's row. */
export function rowLength({ shape }: Pick<BatchField, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Arrays with a row for each of a number of samples. */
export function allocateBatch(fields: BatchFields, samples: number): BatchValues {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const length = samples * rowLength(field);
      return [
        name,
        field.type === 'f32' ? new Float32Array(length) : new Int32Array(length),
      ];
    }),
  );
}
