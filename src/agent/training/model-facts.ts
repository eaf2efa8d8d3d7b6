/** Facts about a model that are known before it is trained. */
import type { Model, ModelTensor, SizedModel } from './models/model.ts';
import { partsOf, type ModelLayer } from './models/layered.ts';

/** Facts about a model before it is trained. */
export type ModelFacts = Pick<Model, 'id' | 'inputs'> & {
  readonly tensors: readonly Pick<ModelTensor, 'name' | 'shape' | 'rowsOf'>[];
  readonly layers?:
    | readonly (LayerFacts & { readonly parts?: readonly LayerFacts[] | undefined })[]
    | undefined;
};

/** Facts about a layer of a model, or a part of one, after which the model can be split. */
export type LayerFacts = Pick<ModelLayer, 'name' | 'tensors'>;

/** Facts about a model's layers and their parts, if they have names. */
export function layerFacts({ layers }: ModelFacts): readonly LayerFacts[] | undefined {
  return (
    layers &&
    partsOf<LayerFacts>(layers).map(({ name, tensors }) => ({ name, tensors }))
  );
}

/** Whether a model has a size only once the number of features is known. */
export const isSized = (model: object): model is SizedModel => 'ofFeatures' in model;
