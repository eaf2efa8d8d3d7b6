/**
 * A model as a chain of named layers: each computes from the previous one's output, and the
 * last one's values become losses. Such a model can be split after a layer and trained by
 * several ranks (split-model.ts).
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { Model, Objective } from './model.ts';

/** A layer's output for one sample: a matrix. */
export interface LayerOutput {
  readonly rows: number;
  readonly width: number;
  /**
   * The last units of each row that belong to a skip connection: no method leaves any of them out
   * between stages; default: none.
   */
  readonly skip?: number | undefined;
}

export interface LayerCall {
  readonly jax: Jax;
  /** Number of samples. */
  readonly samples: number;
  /** The layer's parameters, in the order of its `tensors`; the layer owns them. */
  readonly parameters: readonly JaxArray[];
  /** The layer's `fields` of the batch, [samples, …]; the layer owns them. */
  readonly fields: Readonly<Record<string, JaxArray>>;
}

export interface ModelLayer {
  readonly name: string;
  /** Names of the model's tensors. A later layer may use one again. */
  readonly tensors: readonly string[];
  /** Fields of the batch that it takes in addition to the previous values. */
  readonly fields: readonly string[];
  readonly output: LayerOutput;
  /**
   * @param values what the layer before gives, [samples · rows, width], owned by this one;
   * undefined for the first layer
   * @returns [samples · rows, width] as `output` says
   */
  apply(call: LayerCall, values: JaxArray | undefined): JaxArray;
  /**
   * The same layer in two, for a split inside it. The second part has the layer's name. Each tensor of the
   * layer is in one of them, in the same order.
   */
  readonly parts?: readonly [ModelLayer, ModelLayer];
}

export interface ModelHead {
  /** Fields of the batch that the losses take. */
  readonly fields: readonly string[];
  /** @param values of the last layer */
  objective(call: Omit<LayerCall, 'parameters'>, values: JaxArray): Objective;
}

export interface LayeredModel extends Model {
  readonly layers: readonly ModelLayer[];
  readonly head: ModelHead;
}

/** Layers with those in parts that have some. */
export const partsOf = <Layer extends object>(
  layers: readonly (Layer & { readonly parts?: readonly Layer[] | undefined })[],
): readonly Layer[] => layers.flatMap((layer) => layer.parts ?? [layer]);

export const isLayered = (model: object): model is LayeredModel => 'layers' in model;

export function layered(definition: Omit<LayeredModel, 'objective'>): LayeredModel {
  return {
    ...definition,
    objective(jax, parameters, batch) {
      const names = definition.tensors.map(({ name }) => name);
      const byName = new Map(names.map((name, i) => [name, parameters[i]!]));
      const { layers, head } = definition;
      const samples = Object.values(batch)[0]!.shape[0]!;
      const given = { jax, samples, parameters: byName, batch };
      const objective = applyHead(given, head, applyLayers(given, layers)!);
      for (const array of [...parameters, ...Object.values(batch)]) array.dispose();
      return objective;
    },
  };
}

/** Arrays that stay the caller's. */
export interface LayerArrays {
  readonly jax: Jax;
  readonly samples: number;
  /** Parameters by the names of the model's tensors. */
  readonly parameters: ReadonlyMap<string, JaxArray>;
  readonly batch: Readonly<Record<string, JaxArray>>;
}

/** @param values before the first of these layers; consumed */
export function applyLayers(
  given: LayerArrays,
  layers: readonly ModelLayer[],
  values?: JaxArray,
): JaxArray | undefined {
  const { jax, parameters, samples } = given;
  return layers.reduce<JaxArray | undefined>((before, layer) => {
    const own = layer.tensors.map((name) => parameters.get(name)!.ref);
    const fields = taken(given, layer.fields);
    return layer.apply({ jax, samples, parameters: own, fields }, before);
  }, values);
}

export function applyHead(
  given: LayerArrays,
  head: ModelHead,
  values: JaxArray,
): Objective {
  const { jax, samples } = given;
  return head.objective({ jax, samples, fields: taken(given, head.fields) }, values);
}

const taken = ({ batch }: LayerArrays, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, batch[name]!.ref]));
