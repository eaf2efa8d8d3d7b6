/**
 * The models, by id. Ours have a line each; others are registered from outside, in
 * each process that is to know them.
 */
import {
  invalidDefinition,
  register,
  type RegistryKind,
} from '../../../shared/catalogue/registry.ts';
import { asModel, modelFault, type ModelDefinition } from './definition.ts';
import { dlrm, dlrmSmall } from './dlrm.ts';
import { fnn3 } from './fnn3.ts';
import { lstmPtb } from './lstm-ptb.ts';
import { lstmSmall } from './lstm-small.ts';
import { linearSvm, logisticRegression } from './linear.ts';
import type { Model, SizedModel } from './model.ts';
import { resnet110, resnet18, resnet20 } from './resnet.ts';
import { transformerIwslt } from './transformer-iwslt.ts';
import { transformerSeq2seq } from './transformer-seq2seq.ts';
import { transformerSmall } from './transformer-small.ts';
import { vgg16 } from './vgg.ts';

const known = new Map<string, Model | SizedModel>(
  [
    ...[fnn3, lstmSmall, lstmPtb, logisticRegression, linearSvm],
    ...[transformerSmall, transformerSeq2seq, transformerIwslt],
    ...[resnet18, resnet20, resnet110, vgg16],
    ...[dlrm, dlrmSmall],
  ].map((model) => [model.id, model]),
);
export const models: ReadonlyMap<string, Model | SizedModel> = known;

const ours: ReadonlySet<string> = new Set(known.keys());

/** Whether a model of this id was registered from outside. */
export const isRegistered = (id: string): boolean => known.has(id) && !ours.has(id);

const KIND: RegistryKind = { code: 'MODEL', noun: 'model' };

/**
 * Makes a model known to this process.
 * @throws GradwireError `MODEL_DUPLICATE`; `MODEL_INVALID` for one that cannot be trained
 */
export function registerModel(definition: ModelDefinition): void {
  const fault = modelFault(definition);
  if (fault !== undefined) throw invalidDefinition(KIND, definition.id, fault);
  register(known, asModel(definition), KIND);
}
