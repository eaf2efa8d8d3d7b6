/**
 * Turns a definition of layers into a model. Users' layers pass on arrays of any shape,
 * [samples, …output]; a stage sends the same values as a matrix. Results of their functions
 * are checked when they are called.
 */
import { rowLength } from '../batches/batch.ts';
import type { JaxArray } from '../runtime/jax-runtime.ts';
import { requireObjective } from './checked-objective.ts';
import { classifierKind } from './classifier.ts';
import { layered, type LayeredModel, type ModelLayer } from './layered.ts';
import type {
  FieldLayer,
  LayeredClassifierDefinition,
  LayeredModelDefinition,
} from './layers-definition.ts';
import { requireFloats, requireShape } from './model-failed.ts';
import type { Model } from './model.ts';

export function layeredClassifier(
  definition: LayeredClassifierDefinition,
): LayeredModel {
  const { classes, id, inputLength, summary, title } = definition;
  const layers = definition.layers.map((layer, i): FieldLayer => ({
    // One by one: a layer may be of a class.
    name: layer.name,
    tensors: layer.tensors,
    output: layer.output,
    skip: layer.skip,
    fields: i === 0 ? ['inputs'] : [],
    apply: (jax, parameters, values, { inputs }) =>
      layer.apply(jax, parameters, values ?? inputs!),
  }));
  return layered({
    id,
    title,
    summary,
    ...classifierKind(inputLength, classes),
    ...ofLayers(layers),
  });
}

/** @param metric the one that the definition means */
export function layeredModel(
  definition: LayeredModelDefinition,
  metric: Model['metric'],
): LayeredModel {
  const { head, id, inputs, layers, predictions = 1, summary, title } = definition;
  return layered({
    id,
    title,
    summary,
    inputs,
    predictions,
    metric,
    ...ofLayers(layers),
    head: {
      fields: head.fields ?? [],
      objective({ jax, samples, fields }, values) {
        const shaped = unfolded(values, samples, layers.at(-1)!);
        const given = head.objective(jax, shaped, fields);
        return requireObjective('head', given, metric, samples);
      },
    },
  });
}

function ofLayers(
  layers: readonly FieldLayer[],
): Pick<LayeredModel, 'layers' | 'tensors'> {
  return {
    tensors: layers.flatMap(({ tensors }) =>
      tensors.filter((tensor) => typeof tensor !== 'string'),
    ),
    layers: layers.map((layer, i) => checkedLayer(layer, layers[i - 1])),
  };
}

function checkedLayer(layer: FieldLayer, before: FieldLayer | undefined): ModelLayer {
  const { fields = [], name, output, skip, tensors } = layer;
  const rows = rowLength({ shape: output.slice(0, -1) });
  const width = output.at(-1)!;
  return {
    name,
    fields,
    output: { rows, width, skip },
    tensors: tensors.map((one) => (typeof one === 'string' ? one : one.name)),
    apply({ jax, samples, parameters, fields: taken }, values) {
      const given = values && unfolded(values, samples, before!);
      // Called on the layer, which may use `this`.
      const made = layer.apply(jax, parameters, given, taken);
      const what = `outputs of layer "${name}"`;
      requireShape(what, made, [samples, ...output]);
      requireFloats(what, made);
      return output.length === 1 ? made : made.reshape([samples * rows, width]);
    },
  };
}

/** A matrix [samples · rows, width] as the layer gave it, [samples, …output]. */
const unfolded = (
  values: JaxArray,
  samples: number,
  { output }: Pick<FieldLayer, 'output'>,
): JaxArray => (output.length === 1 ? values : values.reshape([samples, ...output]));
