/**
 * `gradwire methods`, `collectives`, `models`, `datasets` and `optimizers`: what a spec can name,
 * and what it is. The texts come from the definitions; docs/reference has the same.
 */
import type { Command } from 'commander';
import type {
  CollectiveEntry,
  DatasetEntry,
  MethodEntry,
  ModelEntry,
  OptimizerEntry,
} from '../../shared/catalogue/catalogue.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import {
  collectiveFacts,
  COST_SYMBOLS,
  datasetFacts,
  methodFacts,
  modelFacts,
  optimizerFacts,
  parameterRow,
  type Fact,
} from '../../shared/catalogue/facts.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

interface ListOptions {
  readonly json: boolean;
  readonly wide: boolean;
}

/** Entries of each command. */
interface Kinds {
  readonly methods: MethodEntry;
  readonly collectives: CollectiveEntry;
  readonly models: ModelEntry;
  readonly datasets: DatasetEntry;
  readonly optimizers: OptimizerEntry;
}
type Kind = keyof Kinds;

const UNKNOWN = {
  methods: 'METHOD_UNKNOWN',
  collectives: 'COLLECTIVE_UNKNOWN',
  models: 'MODEL_UNKNOWN',
  datasets: 'DATASET_UNKNOWN',
  optimizers: 'OPTIMIZER_UNKNOWN',
} as const;

const NOUNS: Readonly<Record<Kind, string>> = {
  methods: 'method',
  collectives: 'collective',
  models: 'model',
  datasets: 'data set',
  optimizers: 'optimiser',
};

/** Text that follows the facts of an entry; empty if there is none. */
type Detail<K extends Kind> = (entry: Kinds[K]) => string;

export const addMethodsCommand = (program: Command): void => {
  add(program, 'methods', 'list the compression methods, or describe one', {
    facts: methodFacts,
    detail: ({ parameters }) =>
      parameters.length === 0
        ? ''
        : `\n${table([['parameter', 'default', 'range', 'meaning'], ...parameters.map(parameterRow)])}`,
  });
};

export const addCollectivesCommand = (program: Command): void => {
  add(program, 'collectives', 'list the collectives, or describe one', {
    facts: collectiveFacts,
    detail: () => `\n${table(COST_SYMBOLS)}`,
  });
};

export const addModelsCommand = (program: Command): void => {
  add(program, 'models', 'list the built-in models, or describe one', {
    facts: modelFacts,
    detail: () => '',
  });
};

export const addDatasetsCommand = (program: Command): void => {
  add(program, 'datasets', 'list the data sets and formats, or describe one', {
    facts: datasetFacts,
    detail: () => '',
  });
};

export const addOptimizersCommand = (program: Command): void => {
  add(program, 'optimizers', 'list the optimisers, or describe one', {
    facts: optimizerFacts,
    detail: () => '',
  });
};

function add<K extends Kind>(
  program: Command,
  kind: K,
  description: string,
  texts: {
    readonly facts: (entry: Kinds[K]) => readonly Fact[];
    readonly detail: Detail<K>;
  },
): void {
  program
    .command(kind)
    .description(description)
    .argument('[id]', `the one to describe`)
    .option('--json', 'one line of JSON each', false)
    .option(...WIDE, false)
    .action(async (id: string | undefined, { json, wide }: ListOptions) => {
      // Loaded here: no other command needs the engine.
      const { makeCatalogue } = await import('../../agent/engine.ts');
      const { describedOptimizers: optimizers, ...others } = makeCatalogue();
      const entries: { readonly [Each in Kind]: readonly Kinds[Each][] } = {
        ...others,
        optimizers,
      };
      const all = entries[kind];
      const chosen = all.filter((entry) => id === undefined || entry.id === id);
      if (id !== undefined && chosen.length === 0) throw unknown(kind, id, all);
      process.stdout.write(
        json
          ? chosen.map((entry) => `${JSON.stringify(entry)}\n`).join('')
          : id === undefined
            ? table(
                chosen.map((entry) => [entry.id, entry.title, entry.summary]),
                tableWidth(wide),
              )
            : chosen.map((entry) => described(entry, texts)).join(''),
      );
    });
}

const described = <K extends Kind>(
  entry: Kinds[K],
  texts: {
    readonly facts: (entry: Kinds[K]) => readonly Fact[];
    readonly detail: Detail<K>;
  },
): string =>
  `${entry.id}: ${entry.title}\n${entry.summary}\n\n${table(texts.facts(entry))}${texts.detail(entry)}`;

const table = (rows: readonly (readonly string[])[], width?: number): string =>
  `${textTable(
    rows,
    (rows[0] ?? []).map(() => 'left' as const),
    width,
  )}\n`;

function unknown(
  kind: Kind,
  id: string,
  all: readonly { readonly id: string }[],
): GradwireError {
  const ids = all.map((entry) => entry.id);
  const meant = nearest(id, ids);
  return inputError(UNKNOWN[kind], `there is no ${NOUNS[kind]} "${id}"`, {
    next:
      meant === undefined ? `List them: gradwire ${kind}.` : `Did you mean "${meant}"?`,
  });
}
