/** Pages of what a spec can name: methods, collectives, models, data sets, optimisers, presets. */
import { makeCatalogue, syntheticProfiles } from '../../src/agent/engine.ts';
import {
  collectiveFacts,
  COST_SYMBOLS,
  datasetFacts,
  methodFacts,
  modelFacts,
  optimizerFacts,
  parameterRow,
  type Fact,
} from '../../src/shared/catalogue/facts.ts';
import { loadPresets } from '../../src/main/spec/spec-source.ts';
import { publicSets } from '../../src/main/data-sets/public-sets.ts';
import { formatBytes } from '../../src/shared/words/units.ts';
import { bytesToFetch } from '../../src/main/data-sets/fetch-set.ts';
import { cell, code, facts, table } from './markdown.ts';
import type { Page } from './page.ts';

const catalogue = makeCatalogue();

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
}

const overview = (entries: readonly Entry[]): string =>
  table(
    ['id', 'name', 'what it is'],
    entries.map(({ id, summary, title }) => [
      `[\`${id}\`](#${id})`,
      cell(title),
      cell(summary),
    ]),
  );

const section = (
  { id, summary, title }: Entry,
  about: readonly Fact[],
  rest = '',
): string =>
  `## ${id}\n\n${title}. ${cell(sentence(summary))}\n\n${facts(about)}${rest === '' ? '' : `\n\n${rest}`}`;

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

const parameterTable = (parameters: Parameters<typeof parameterRow>[0][]): string =>
  parameters.length === 0
    ? 'It has no parameters.'
    : table(
        ['parameter', 'default', 'range', 'meaning'],
        parameters.map((parameter) => {
          const [key, preset, range, meaning] = parameterRow(parameter);
          return [code(key!), code(preset!), cell(range!), cell(meaning!)];
        }),
      );

const methods: Page = {
  file: 'methods.md',
  title: 'Compression methods',
  about:
    '`exchange.method` in a spec, with the parameters beside it. `gradwire methods ID` prints the same. How to write one: [extending](../extending.md#a-compression-method); what they cost in accuracy: [accuracy](../accuracy.md).',
  body: [
    overview(catalogue.methods),
    ...catalogue.methods.map((method) =>
      section(method, methodFacts(method), parameterTable([...method.parameters])),
    ),
  ],
};

const collectives: Page = {
  file: 'collectives.md',
  title: 'Collectives',
  about:
    '`exchange.collective` in a spec: how the payloads of all ranks become their sum. `auto`, the default, takes the one predicted to be cheapest; `adaptive` also uses measured times ([how](../architecture.md#the-cost-model-and-auto)). `gradwire collectives ID` prints the same.',
  body: [
    overview(catalogue.collectives),
    `Costs are in the α–β–γ model:\n\n${facts(COST_SYMBOLS)}`,
    ...catalogue.collectives.map((collective) =>
      section(collective, collectiveFacts(collective)),
    ),
  ],
};

const models: Page = {
  file: 'models.md',
  title: 'Models',
  about:
    '`workload.model` in a spec. Your own may be a [file](../models.md), or a [PyTorch program](../pytorch.md). `gradwire models ID` prints the same.',
  body: [
    overview(catalogue.models),
    ...catalogue.models.map((model) => section(model, modelFacts(model))),
    `## Profiles of synthetic gradients\n\n\`workload.synthetic.profile\`, with the model \`synthetic\`: ${syntheticProfiles()
      .map((id) => code(id))
      .join(', ')}.`,
  ],
};

const dataSets: Page = {
  file: 'data-sets.md',
  title: 'Data sets',
  about:
    '`workload.dataset` in a spec. `gradwire datasets ID` prints the same. What each format of files accepts: [data files](../data.md).',
  body: [
    overview(catalogue.datasets),
    ...catalogue.datasets.map((dataset) => section(dataset, datasetFacts(dataset))),
    '## Public data sets\n\n`gradwire data fetch ID` downloads one and checks it:',
    table(
      ['id', 'name', 'download', 'source'],
      publicSets.map((set) => [
        code(set.id),
        cell(set.title),
        formatBytes(bytesToFetch(set)),
        cell(set.source),
      ]),
    ),
  ],
};

const optimizerPage: Page = {
  file: 'optimizers.md',
  title: 'Optimisers',
  about:
    '`optimizer.kind` in a spec; [its options](spec.md#optimizer) are beside it. g is the average gradient, w a weight, η the learning rate, μ the momentum and λ the weight decay. `gradwire optimizers ID` prints the same.',
  body: catalogue.describedOptimizers.map((optimizer) =>
    section(optimizer, optimizerFacts(optimizer)),
  ),
};

const presets: Page = {
  file: 'presets.md',
  title: 'Presets',
  about:
    'Specs that come with Gradwire. `gradwire run ID` runs one, `gradwire presets ID` prints it.',
  body: [
    table(
      ['id', 'name', 'for', 'what it shows'],
      (await loadPresets()).map(({ description, goal = '', id, title }) => [
        code(id),
        cell(title),
        cell(goal),
        cell(description),
      ]),
    ),
  ],
};

export const cataloguePages: readonly Page[] = [
  methods,
  collectives,
  models,
  dataSets,
  optimizerPage,
  presets,
];
