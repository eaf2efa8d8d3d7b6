/**
 * The experiment form, made from the spec's schema and the agent's catalogue: sections of
 * fields, each with its path in the spec. Field values are the spec's, or the typed text
 * if it is not (yet) a valid value.
 */
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import {
  datasetFacts,
  methodFacts,
  modelFacts,
  optimizerFacts,
} from '../../../shared/catalogue/facts.ts';
import { DEFAULT_METHOD } from '../../../shared/plan/exchange-plan.ts';
import { isModelFile, modelName } from '../../../shared/spec/model-name.ts';
import { PROGRAM } from '../../../shared/spec/program-spec.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import { PARALLELISM } from '../../../shared/spec/parallelism/parallelism.ts';
import {
  activationFields,
  collectiveChoices,
  layersField,
  parameterField,
  serversField,
} from './exchange-fields.ts';
import {
  entryChoices,
  plainChoices,
  type FormChoice,
  type FormField,
  type FormSection,
} from './form-field.ts';
import { asksForServers } from './server-choice.ts';
import { isDraft, valueAt, type Draft } from './spec-draft.ts';
import { field, sectionOf, titledFields } from './spec-fields.ts';

/** The agent's models, and the user's own file if the draft names one. */
function modelChoices(catalogue: Catalogue, draft: Draft): readonly FormChoice[] {
  const given = valueAt(draft, 'workload.model');
  const ours = entryChoices(catalogue.models, modelFacts);
  if (typeof given !== 'string' || !isModelFile(given)) return ours;
  const own = { value: given, label: modelName(given), hint: `Your file ${given}` };
  return [...ours, own];
}

/** Links of an emulated network that differ, as JSON. */
function pairsField(): FormField {
  const { description = '', ...pairs } = field('network.pairs');
  const example = '[{"between": ["a", "b"], "bandwidth": "100 Mbit/s"}]';
  return { ...pairs, description: `${description}, such as ${example}` };
}

/**
 * The form for a draft; the fields depend on its current choices.
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
  const isOwn =
    valueAt(draft, 'workload.model') === PROGRAM ||
    valueAt(draft, 'workload.command') !== undefined ||
    valueAt(draft, 'workload.external') === true;
  return [
    {
      title: 'Workload',
      fields: [
        field('name'),
        field('workload.model', modelChoices(catalogue, draft)),
        ...(isOwn
          ? []
          : [
              field('workload.dataset', entryChoices(catalogue.datasets, datasetFacts)),
            ]),
        ...(dataset?.needsData === true || valueAt(draft, 'workload.data') !== undefined
          ? [field('workload.data')]
          : []),
        ...(dataset?.hasFeatures === true ||
        valueAt(draft, 'workload.features') !== undefined
          ? [field('workload.features')]
          : []),
        ...(dataset?.takesSamples === true ||
        valueAt(draft, 'workload.samples') !== undefined
          ? [field('workload.samples')]
          : []),
        ...(dataset?.takesColumns === true ||
        valueAt(draft, 'workload.columns') !== undefined
          ? [
              field('workload.columns.label'),
              field('workload.columns.numeric'),
              field('workload.columns.categorical'),
            ]
          : []),
        ...(valueAt(draft, 'workload.model') === 'synthetic-gradient' ||
        valueAt(draft, 'workload.synthetic') !== undefined
          ? [
              field('workload.synthetic.profile'),
              field('workload.synthetic.computeMs'),
              field('workload.synthetic.overlap'),
            ]
          : []),
        ...(isOwn
          ? [
              field('workload.command'),
              field('workload.workdir'),
              field('workload.copy'),
              field('workload.setup'),
              field('workload.env'),
              field('workload.observe'),
              field('workload.external'),
            ]
          : [field('workload.batchPerRank')]),
      ],
    },
    {
      title: 'World',
      fields: [
        ...(machines.length > 1 ? [field('world.nodes', machines)] : []),
        field('world.ranks'),
        ...(isOwn ? [] : [field('backend')]),
        ...(valueAt(draft, 'backend') === 'torch' ||
        valueAt(draft, 'python') !== undefined
          ? [field('python')]
          : []),
      ],
      more: [field('world.ports')],
    },
    ...(isOwn ? [] : [parallelismSection(draft)]),
    {
      title: 'Emulated network',
      fields: [field('network.bandwidth'), field('network.latency')],
      ...(machines.length > 1 || valueAt(draft, 'network.pairs') !== undefined
        ? { more: [pairsField()] }
        : {}),
    },
    {
      title: 'Exchange',
      fields: [
        field('exchange.method', entryChoices(catalogue.methods, methodFacts)),
        ...(method?.parameters ?? []).map((entry) =>
          parameterField(entry, 'exchange.'),
        ),
        field('exchange.collective', collectiveChoices(catalogue, method)),
        ...(asksForServers(catalogue, exchange) ? [serversField] : []),
        layersField('exchange.layers'),
        ...(valueAt(draft, 'parallelism.pipeline') === undefined
          ? []
          : activationFields('exchange.', exchange)),
      ],
    },
    ...(isOwn
      ? []
      : [
          sectionOf('Optimiser', 'optimizer', {
            kind: optimizerChoices(catalogue),
          }),
        ]),
    lengthSection(isOwn),
  ];
}

function lengthSection(isOwn: boolean): FormSection {
  const { fields, ...section } = sectionOf('Length', '');
  const isOurs = ({ path }: FormField): boolean => path !== 'evaluateEvery';
  return { ...section, fields: isOwn ? fields.filter(isOurs) : fields };
}

/** Fields of one kind are shown if it is chosen, or if they have values. */
function parallelismSection(draft: Draft): FormSection {
  const definitions = [...PARALLELISM.values()];
  const kinds = definitions.map(({ hint, id }) => ({ value: id, label: id, hint }));
  const kind = valueAt(draft, 'parallelism.kind');
  const ofKinds = definitions.flatMap(({ id, keys }) =>
    Object.keys(keys)
      .flatMap((key) => titledFields(`parallelism.${key}`))
      .filter(({ path }) => kind === id || valueAt(draft, path) !== undefined),
  );
  return {
    title: 'Parallelism',
    fields: [field('parallelism.kind', kinds), ...ofKinds],
    more: [
      field('parallelism.pipeline.splitAfter'),
      ...(valueAt(draft, 'parallelism.pipeline') === undefined
        ? []
        : [field('parallelism.pipeline.microBatches')]),
    ],
  };
}

/** The agent's optimisers, by their names alone where it is of a version that said no more. */
function optimizerChoices(catalogue: Catalogue): readonly FormChoice[] {
  const { describedOptimizers, optimizers } = catalogue;
  return describedOptimizers === undefined
    ? plainChoices(optimizers)
    : entryChoices(describedOptimizers, optimizerFacts);
}
