/**
 * `gradwire methods`, `collectives` and `models`: what a spec can name, and what it is. The texts
 * come from the definitions; docs/reference has the same.
 */
import type { Command } from 'commander';
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import {
  collectiveFacts,
  COST_SYMBOLS,
  methodFacts,
  modelFacts,
  parameterRow,
  type Fact,
} from '../text/registry-facts.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

interface ListOptions {
  readonly json: boolean;
  readonly wide: boolean;
}

type Kind = 'methods' | 'collectives' | 'models';

const UNKNOWN = {
  methods: 'METHOD_UNKNOWN',
  collectives: 'COLLECTIVE_UNKNOWN',
  models: 'MODEL_UNKNOWN',
} as const;

/** Text that follows the facts of an entry; empty if there is none. */
type Detail<K extends Kind> = (entry: Catalogue[K][number]) => string;

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

function add<K extends Kind>(
  program: Command,
  kind: K,
  description: string,
  texts: {
    readonly facts: (entry: Catalogue[K][number]) => readonly Fact[];
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
      const all: Catalogue[K] = makeCatalogue()[kind];
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
  entry: Catalogue[K][number],
  texts: {
    readonly facts: (entry: Catalogue[K][number]) => readonly Fact[];
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
  return inputError(UNKNOWN[kind], `there is no ${kind.slice(0, -1)} "${id}"`, {
    next:
      meant === undefined ? `List them: gradwire ${kind}.` : `Did you mean "${meant}"?`,
  });
}
