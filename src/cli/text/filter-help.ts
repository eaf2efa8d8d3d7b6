/** The help on filters of runs, for commands that take one. */
import { RUN_KEYS } from '../../shared/run-query/run-key.ts';

export function filterHelp(): string {
  const width = Math.max(...RUN_KEYS.map(({ example }) => example.length));
  return [
    'Terms of a filter, all of which must hold:',
    ...RUN_KEYS.map(({ about, example }) => `  ${example.padEnd(width)}  ${about}`),
    `  ${'exchange.ratio<0.05'.padEnd(width)}  any key of the spec; its last part is enough: ratio<0.05`,
    '',
    'Operators are : = != < <= > >=. A comma separates alternatives (state:failed,stopped), * stands',
    'for any text (tag:* has a tag), - before a term excludes (-tag:draft). Other words are looked',
    'for in names, ids, methods, models, data sets, tags and notes; quotes keep words together.',
    'Any of the keys can be sorted by.',
  ].join('\n');
}
