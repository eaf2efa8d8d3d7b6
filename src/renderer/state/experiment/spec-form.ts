/**
 * The experiment form, made from the spec's schema and the agent's catalogue: sections of
 * fields, each with its path in the spec. Field values are the spec's, or the typed text
 * if it is not (yet) a valid value.
 */
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { FORM_SECTIONS } from '../../../shared/checks/spec-key.ts';
import {
  datasetFacts,
  methodFacts,
  modelFacts,
  optimizerFacts,
} from '../../../shared/catalogue/facts.ts';
import { DEFAULT_METHOD } from '../../../shared/plan/exchange-plan.ts';
import { isModelFile, modelName } from '../../../shared/spec/model-name.ts';
import { PROGRAM, programKeys } from '../../../shared/spec/program-spec.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import { PARALLELISM } from '../../../shared/spec/parallelism/parallelism.ts';
import {
  activationFields,
  collectiveChoices,
  parameterField,
} from './exchange-fields.ts';
import {
  entryChoices,
  plainChoices,
  type FormChoice,
  type FormSection,
} from './form-field.ts';
import { asksForServers } from './server-choice.ts';
import { isDraft, valueAt, type Draft } from './spec-draft.ts';
import { field, sectionOf } from './spec-fields.ts';

/** The agent's models, and the user's own file if the draft names one. */
function modelChoices(catalogue: Catalogue, draft: Draft): readonly FormChoice[] {
  const given = valueAt(draft, 'workload.model');
  const ours = entryChoices(catalogue.models, modelFacts);
  if (typeof given !== 'string' || !isModelFile(given)) return ours;
  const own = { value: given, label: modelName(given), hint: `Your file ${given}` };
  return [...ours, own];
}

/**
 * The form for a draft: a field for each key of the spec that has a title, in the section that its
 * definition says. Some are only asked for beside current choices, or where they have a value.
 * @param machines that are available
 */
export function formSections(
  catalogue: Catalogue,
  draft: Draft,
  machines: readonly FormChoice[] = [{ value: LOCAL_NODE, label: LOCAL_NODE }],
): FormSection[] {
  const dataset = catalogue.datasets.find(
    (entry) => entry.id === valueAt(draft, 'workload.dataset'),
  );
  const method = catalogue.methods.find(
    (entry) => entry.id === (valueAt(draft, 'exchange.method') ?? DEFAULT_METHOD),
  );
  const exchange = isDraft(draft['exchange']) ? draft['exchange'] : {};
  const has = (path: string): boolean => valueAt(draft, path) !== undefined;
  const model = valueAt(draft, 'workload.model');
  const isOwn =
    model === PROGRAM ||
    has('workload.command') ||
    valueAt(draft, 'workload.external') === true;
  const kind = valueAt(draft, 'parallelism.kind');
  const kinds = [...PARALLELISM.values()];
  const isSplit = has('parallelism.pipeline');
  const parts = {
    choices: {
      'workload.model': modelChoices(catalogue, draft),
      'workload.dataset': entryChoices(catalogue.datasets, datasetFacts),
      'world.nodes': machines,
      'parallelism.kind': kinds.map(({ hint, id }) => ({ value: id, label: id, hint })),
      'exchange.collective': collectiveChoices(catalogue, method),
      'optimizer.kind': optimizerChoices(catalogue),
    },
    instead: {
      'exchange.method': [
        field('exchange.method', entryChoices(catalogue.methods, methodFacts)),
        ...(method?.parameters ?? []).map((entry) =>
          parameterField(entry, 'exchange.'),
        ),
      ],
      'exchange.activations.method': activationFields('exchange.', exchange),
      // It comes with its method.
      'exchange.activations.sparsity': [],
    },
    asked: {
      'workload.dataset': !isOwn,
      'workload.data': dataset?.needsData === true || has('workload.data'),
      'workload.features': dataset?.hasFeatures === true || has('workload.features'),
      'workload.samples': dataset?.takesSamples === true || has('workload.samples'),
      'workload.columns': dataset?.takesColumns === true || has('workload.columns'),
      'workload.synthetic': model === 'synthetic-gradient' || has('workload.synthetic'),
      'workload.batchPerRank': !isOwn,
      ...Object.fromEntries(
        Object.keys(programKeys).map((key) => [`workload.${key}`, isOwn]),
      ),
      'world.nodes': machines.length > 1,
      backend: !isOwn,
      python: valueAt(draft, 'backend') === 'torch' || has('python'),
      parallelism: !isOwn,
      // Keys of one kind are asked for if it is chosen, or if they have values.
      ...Object.fromEntries(
        kinds.flatMap(({ id, keys }) =>
          Object.keys(keys)
            .map((key) => `parallelism.${key}`)
            .map((path) => [path, kind === id || has(path)]),
        ),
      ),
      'parallelism.pipeline.microBatches': isSplit,
      'network.pairs': machines.length > 1 || has('network.pairs'),
      'exchange.servers': asksForServers(catalogue, exchange),
      'exchange.activations': isSplit,
      optimizer: !isOwn,
      evaluateEvery: !isOwn,
    },
  };
  return FORM_SECTIONS.map((title) => sectionOf(title, parts)).filter(
    ({ fields }) => fields.length > 0,
  );
}

/** The agent's optimisers, by their names alone where it is of a version that said no more. */
function optimizerChoices(catalogue: Catalogue): readonly FormChoice[] {
  const { describedOptimizers, optimizers } = catalogue;
  return describedOptimizers === undefined
    ? plainChoices(optimizers)
    : entryChoices(describedOptimizers, optimizerFacts);
}
