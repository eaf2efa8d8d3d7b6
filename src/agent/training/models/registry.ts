/**
 * The models, by id. Ours have a line each; others are registered by whoever brings them, in
 * each process that is to know them.
 */
import { invalidDefinition, register } from '../../../shared/registry.ts';
import { asModel, modelFault, type ModelDefinition } from './definition.ts';
import { fnn3 } from './fnn3.ts';
import { lstmSmall } from './lstm-small.ts';
import type { Model } from './model.ts';

const known = new Map<string, Model>(
  [fnn3, lstmSmall].map((model) => [model.id, model]),
);
export const models: ReadonlyMap<string, Model> = known;

const KIND = { code: 'MODEL', noun: 'model' };

/**
 * Makes a model known to this process.
 * @throws GradwireError `MODEL_DUPLICATE`; `MODEL_INVALID` for one that cannot be trained
 */
export function registerModel(definition: ModelDefinition): void {
  const fault = modelFault(definition);
  if (fault !== undefined) throw invalidDefinition(KIND, definition.id, fault);
  register(known, asModel(definition), KIND);
}
