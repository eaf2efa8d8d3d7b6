/** Schemas that definitions of models have in common. */
import { z } from 'zod';
import { formatCount } from '../../../shared/words/units.ts';
import { rowLength } from '../batches/batch.ts';

export const size = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

export const aName = z.string().min(1).max(200);

export const aShape = z.array(size).max(8);

export const aFunction = z.custom<never>(
  (value) => typeof value === 'function',
  'not a function',
);

export const tensorSchema = z.strictObject({
  name: aName,
  shape: aShape,
  initialize: z.union(
    [
      z.enum(['zeros', 'ones']),
      z.strictObject({ normal: z.number().positive() }),
      z.strictObject({ uniform: z.number().positive() }),
      aFunction,
    ],
    "not 'zeros', 'ones', { normal: deviation }, { uniform: bound } or a function",
  ),
  rowsOf: z.string().optional(),
});

const fieldSchema = z.strictObject({
  type: z.enum(['f32', 'i32']),
  shape: z.array(z.union([size, z.literal('any')])).max(8),
  below: size.optional(),
});

export const inputsSchema = z.record(z.string(), fieldSchema);

/** The name that two of them have. */
export function nameOfTwo(
  things: readonly { readonly name: string }[],
): string | undefined {
  const names = things.map(({ name }) => name);
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** Explains why a field cannot name rows of a tensor; undefined if it can, or if none does. */
export function tableFault(
  { rowsOf, shape }: z.infer<typeof tensorSchema>,
  inputs: z.infer<typeof inputsSchema>,
): string | undefined {
  if (rowsOf === undefined) return undefined;
  const field = inputs[rowsOf];
  if (field === undefined) return `has rowsOf "${rowsOf}", which is not an input`;
  const rows = shape[0] ?? 0;
  if (field.type !== 'i32' || field.below === undefined || field.below > rows) {
    return (
      `has ${rows} rows, so its input "${rowsOf}" must be of type 'i32' with a ` +
      `"below" of at most ${rows}`
    );
  }
  return undefined;
}

/** The gradient of as many would take all of a rank’s 4 GiB. */
const MOST_PARAMETERS = 2 ** 30;

/** Explains why a model of these tensors is too large for any rank, and names the largest. */
export function sizeFault(
  tensors: readonly Pick<z.infer<typeof tensorSchema>, 'name' | 'shape'>[],
): string | undefined {
  const sizes = tensors.map(({ shape }) => rowLength({ shape }));
  const all = sizes.reduce((sum, length) => sum + length, 0);
  if (all < MOST_PARAMETERS) return undefined;
  const largest = tensors[sizes.indexOf(Math.max(...sizes))]!;
  return (
    `it has ${formatCount(all)} parameters, but a rank has room for fewer than ` +
    `${formatCount(MOST_PARAMETERS)}; its tensor "${largest.name}" is ` +
    `[${largest.shape.join(', ')}]`
  );
}
