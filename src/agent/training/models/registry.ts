/**
 * The models, by id. Ours have a line each; others are registered by whoever brings them, in
 * each process that is to know them.
 */
import { invalidDefinition, register } from '../../../shared/registry.ts';
import { fnn3 } from './fnn3.ts';
import { parameterCount, type Model } from './model.ts';

const known = new Map<string, Model>([fnn3].map((model) => [model.id, model]));
export const models: ReadonlyMap<string, Model> = known;

const KIND = { code: 'MODEL', noun: 'model' };

/**
 * Makes a model known to this process.
 * @throws GradwireError `MODEL_DUPLICATE`; `MODEL_INVALID` for one without parameters or with
 * two tensors of one name
 */
export function registerModel(model: Model): void {
  const { id, tensors } = model;
  if (parameterCount(model) === 0) throw invalidDefinition(KIND, id, 'it is empty');
  if (new Set(tensors.map(({ name }) => name)).size < tensors.length) {
    throw invalidDefinition(KIND, id, 'two of its tensors have the same name');
  }
  register(known, model, KIND);
}
