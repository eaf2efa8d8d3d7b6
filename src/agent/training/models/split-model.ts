/** A layered model, split after some of its layers into stages, one rank each. */
import type { ModelFields } from '../batches/batch.ts';
import {
  partsOf,
  type LayerOutput,
  type LayeredModel,
  type ModelHead,
  type ModelLayer,
} from './layered.ts';
import type { Model, ModelTensor } from './model.ts';

/** A tensor of the model, with its place there: first values are drawn by it. */
interface PlacedTensor {
  readonly tensor: ModelTensor;
  readonly place: number;
}

/**
 * A tensor that several stages use. The first of them owns it and is the only one to
 * update it.
 */
interface SharedTensor {
  readonly tensor: ModelTensor;
  readonly owner: number;
  /** The other stages, which get its weights and send their gradients. */
  readonly borrowers: readonly number[];
}

export interface ModelStage {
  readonly index: number;
  /** Stages in all. */
  readonly count: number;
  readonly layers: readonly ModelLayer[];
  /** The model's head, in the last stage. */
  readonly head: ModelHead | undefined;
  /** Tensors that the stage owns, in the model's order. */
  readonly tensors: readonly PlacedTensor[];
  /** Tensors that several stages use, of the whole model. */
  readonly shared: readonly SharedTensor[];
  /** Fields of the batch that it takes. */
  readonly fields: ModelFields;
  /** The stage's input for one sample; undefined for the first stage. */
  readonly before: LayerOutput | undefined;
  /** The stage's output for one sample; undefined for the last stage. */
  readonly after: LayerOutput | undefined;
}

/** @param splitAfter names of layers or parts of them, in the model's order, none of them the last */
export function splitModel(
  model: LayeredModel,
  splitAfter: readonly string[],
): readonly ModelStage[] {
  const parts = partsOf(model.layers);
  const names = parts.map(({ name }) => name);
  const ends = [...splitAfter.map((name) => names.indexOf(name) + 1), names.length];
  const count = ends.length;
  const chains = ends.map((end, index) =>
    joined(parts.slice(ends[index - 1] ?? 0, end), model.layers),
  );
  const users = (name: string): readonly number[] =>
    chains.flatMap((layers, index) =>
      layers.some(({ tensors }) => tensors.includes(name)) ? [index] : [],
    );
  const placed = model.tensors.map((tensor, place) => ({ tensor, place }));
  const shared = model.tensors.flatMap((tensor): SharedTensor[] => {
    const [owner, ...borrowers] = users(tensor.name);
    return borrowers.length === 0 ? [] : [{ tensor, owner: owner!, borrowers }];
  });
  return chains.map((layers, index) => {
    const head = index === count - 1 ? model.head : undefined;
    return {
      index,
      count,
      layers,
      head,
      shared,
      tensors: placed.filter(({ tensor }) => users(tensor.name)[0] === index),
      fields: fieldsOf(model, layers, head),
      before: chains[index - 1]?.at(-1)!.output,
      after: head === undefined ? layers.at(-1)!.output : undefined,
    };
  });
}

/** Layers in place of their parts, where both are there. */
function joined(
  parts: readonly ModelLayer[],
  layers: readonly ModelLayer[],
): readonly ModelLayer[] {
  const whole = new Map(layers.map((layer) => [layer.parts?.[0], layer]));
  return parts.flatMap((part, i) => {
    const before = parts[i - 1];
    if (before !== undefined && whole.get(before)?.parts?.[1] === part) return [];
    const layer = whole.get(part);
    return layer !== undefined && parts[i + 1] === layer.parts?.[1] ? [layer] : [part];
  });
}

/** Picks the fields that layers take, and those that name rows of their tables. */
function fieldsOf(
  { inputs, tensors }: Pick<Model, 'inputs' | 'tensors'>,
  layers: readonly ModelLayer[],
  head: ModelHead | undefined,
): ModelFields {
  const used = new Set(layers.flatMap((layer) => layer.tensors));
  const taken = new Set([
    ...layers.flatMap(({ fields }) => fields),
    ...(head?.fields ?? []),
    ...tensors.flatMap(({ name, rowsOf }) => (used.has(name) ? [rowsOf] : [])),
  ]);
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => taken.has(name)));
}
