/** Explains why a user's layers, which may not have been type-checked, do not form a model. */
import { z } from 'zod';
import { nearest } from '../../../shared/words/nearest.ts';
import {
  aFunction,
  aName,
  nameOfTwo,
  size,
  sizeFault,
  tableFault,
  tensorSchema,
  type inputsSchema,
} from './definition-schemas.ts';

type CheckedTensor = z.infer<typeof tensorSchema>;

/** A union would say that it is neither, and not what is wrong with a tensor. */
const tensorOrName = z
  .custom<CheckedTensor | string>(() => true)
  .superRefine((value, context) => {
    if (typeof value === 'string') return;
    for (const issue of tensorSchema.safeParse(value).error?.issues ?? []) {
      context.addIssue(issue as never);
    }
  });

const layerParts = {
  name: aName,
  tensors: z.array(tensorOrName),
  output: z.array(size).min(1).max(8),
  skip: z.int().min(0).optional(),
  apply: aFunction,
};
const fieldNames = z.array(z.string()).optional();

export const classifierLayerSchema = z.strictObject(layerParts);
export const fieldLayerSchema = z.strictObject({ ...layerParts, fields: fieldNames });
export const headSchema = z.strictObject({ fields: fieldNames, objective: aFunction });

type CheckedLayer = z.infer<typeof fieldLayerSchema>;

interface CheckedLayers {
  readonly layers: readonly CheckedLayer[];
  /** Fields of the batch, for a model that is not a classifier. */
  readonly inputs?: z.infer<typeof inputsSchema>;
  readonly head?: z.infer<typeof headSchema>;
  /** Number of classes, for a classifier. */
  readonly classes?: number;
}

/** Explains why these layers do not make a model; undefined if they do. */
export function layersFault({
  classes,
  head,
  inputs,
  layers,
}: CheckedLayers): string | undefined {
  const twice = nameOfTwo(layers);
  if (twice !== undefined) return `two of its layers have the name "${twice}"`;
  const before: CheckedTensor[] = [];
  for (const layer of layers) {
    const fault = tensorsFault(layer, before) ?? outputFault(layer);
    if (fault !== undefined) return `its layer "${layer.name}" ${fault}`;
    before.push(...ownTensors(layer));
  }
  const large = sizeFault(before);
  if (large !== undefined) return large;
  if (inputs !== undefined) return fieldsFault(layers, head!, inputs);
  const table = before.find(({ rowsOf }) => rowsOf !== undefined);
  return table === undefined
    ? classesFault(layers.at(-1)!, classes!)
    : `its tensor "${table.name}" has rowsOf, which a classifier does not support`;
}

const ownTensors = ({ tensors }: CheckedLayer): readonly CheckedTensor[] =>
  tensors.filter((tensor) => typeof tensor !== 'string');

/** @param before tensors of the layers before it */
function tensorsFault(
  { tensors }: CheckedLayer,
  before: readonly CheckedTensor[],
): string | undefined {
  if (tensors.length === 0) {
    return 'has no tensors: move its computation into the layer before or after it';
  }
  const here = new Set<string>();
  for (const tensor of tensors) {
    const isNamed = typeof tensor === 'string';
    const name = isNamed ? tensor : tensor.name;
    if (here.has(name)) return `has two tensors with the name "${name}"`;
    here.add(name);
    const known = before.find((one) => one.name === name);
    if (isNamed && known === undefined) {
      const meant = nearest(
        name,
        before.map((one) => one.name),
      );
      const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
      return `names the tensor "${name}", which no earlier layer has${hint}`;
    }
    if (!isNamed && known !== undefined) {
      return (
        `has a tensor "${name}", as an earlier layer does; to reuse that one, give only ` +
        'its name'
      );
    }
    if (known?.rowsOf !== undefined) {
      return `names the tensor "${name}", which has rowsOf: a table belongs to one layer`;
    }
  }
  return undefined;
}

/**
 * Explains why a layer's output cannot pass from stage to stage, as one array of f32 per
 * micro-batch.
 */
function outputFault({ output, skip = 0 }: CheckedLayer): string | undefined {
  const length = output.reduce((product, axis) => product * axis, 1);
  if (!size.safeParse(length).success) {
    return `outputs ${length} numbers per sample, too many to pass on`;
  }
  const units = output.at(-1)!;
  return skip < units
    ? undefined
    : `has a skip connection of ${skip} units, but only ${units} in all: at least one must be its own`;
}

function classesFault(
  { name, output }: CheckedLayer,
  classes: number,
): string | undefined {
  if (output.length === 1 && output[0] === classes) return undefined;
  return (
    `its last layer "${name}" has the output [${output.join(', ')}], but the model has ` +
    `${classes} classes: the output must be [${classes}]`
  );
}

function fieldsFault(
  layers: readonly CheckedLayer[],
  head: z.infer<typeof headSchema>,
  inputs: z.infer<typeof inputsSchema>,
): string | undefined {
  const tables = layers
    .flatMap(ownTensors)
    .filter(({ rowsOf }) => rowsOf !== undefined);
  for (const tensor of tables) {
    const fault = tableFault(tensor, inputs);
    if (fault !== undefined) return `its tensor "${tensor.name}" ${fault}`;
  }
  const takers = [
    ...layers.map(({ name, fields = [] }) => ({ name: `layer "${name}"`, fields })),
    { name: 'head', fields: head.fields ?? [] },
  ];
  for (const { name, fields } of takers) {
    const unknown = fields.find((field) => !Object.hasOwn(inputs, field));
    if (unknown !== undefined) {
      return `its ${name} takes "${unknown}", which is not an input`;
    }
    const twice = fields.find((field, i) => fields.indexOf(field) !== i);
    if (twice !== undefined) return `its ${name} takes "${twice}" twice`;
  }
  const [first] = layers as [CheckedLayer];
  const looksUp = ownTensors(first).some(({ rowsOf }) => rowsOf !== undefined);
  if ((first.fields ?? []).length === 0 && !looksUp) {
    return `its first layer "${first.name}" takes no fields of a batch`;
  }
  const taken = new Set([
    ...takers.flatMap(({ fields }) => fields),
    ...tables.map(({ rowsOf }) => rowsOf),
  ]);
  const idle = Object.keys(inputs).find((name) => !taken.has(name));
  return idle === undefined
    ? undefined
    : `its input "${idle}" is not in the fields of any layer or of its head`;
}
