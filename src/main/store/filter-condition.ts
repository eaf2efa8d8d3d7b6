/** A filter of runs as a condition in SQL. Values go as parameters, never into the text. */
import type { FilterTerm, TextPattern } from '../../shared/run-query/run-filter.ts';
import { ALL_TEXT, columnOf, folded } from './key-columns.ts';

/** Values of a statement by name. */
export class Parameters {
  readonly values: Record<string, number | string>;
  #last = 0;

  constructor(values: Readonly<Record<string, number | string>>) {
    this.values = { ...values };
  }

  /** @returns the name of the value in the statement */
  add(value: number | string): string {
    const name = `v${++this.#last}`;
    this.values[name] = value;
    return `@${name}`;
  }
}

/** The condition that a row of `runs` fulfils all terms. */
export const conditionOf = (
  terms: readonly FilterTerm[],
  parameters: Parameters,
): string =>
  terms.length === 0
    ? 'TRUE'
    : terms.map((term) => oneCondition(term, parameters)).join(' AND ');

function oneCondition(term: FilterTerm, parameters: Parameters): string {
  // What is absent fulfils no condition, and every one that is negated.
  const condition = `coalesce(${positive(term, parameters)}, FALSE)`;
  return term.isNegated ? `NOT ${condition}` : condition;
}

function positive(term: FilterTerm, parameters: Parameters): string {
  if (term.kind === 'words') {
    return `instr(fold(${ALL_TEXT}), ${parameters.add(folded(term.text))}) > 0`;
  }
  const column = columnOf(term.key, (value) => parameters.add(value));
  const test = testOf(term, parameters);
  return column.kind === 'one'
    ? `(SELECT ${test} FROM (SELECT ${column.sql} AS value))`
    : `EXISTS (SELECT 1 FROM (${column.sql}) WHERE ${test})`;
}

/** A condition on `value`. */
function testOf(
  term: Exclude<FilterTerm, { readonly kind: 'words' }>,
  parameters: Parameters,
): string {
  switch (term.kind) {
    case 'present':
      return 'value IS NOT NULL';
    case 'match':
      return anyOf(term.patterns.map((pattern) => patternTest(pattern, parameters)));
    case 'compare':
      return anyOf(
        term.alternatives.map((tests) => {
          const all = tests.map(
            ({ operator, value }) => `value ${operator} ${parameters.add(value)}`,
          );
          return `(typeof(value) IN ('integer', 'real') AND ${all.join(' AND ')})`;
        }),
      );
    default:
      return term satisfies never;
  }
}

function patternTest(
  { isWhole, number, text }: TextPattern,
  parameters: Parameters,
): string {
  const wanted = folded(text);
  const value = 'fold(cast(value AS TEXT))';
  if (!isWhole) return `instr(${value}, ${parameters.add(wanted)}) > 0`;
  const isEqual = wanted.includes('*')
    ? `${value} LIKE ${parameters.add(likePattern(wanted))} ESCAPE '\\'`
    : `${value} = ${parameters.add(wanted)}`;
  return number === undefined
    ? isEqual
    : `(${isEqual} OR value = ${parameters.add(number)})`;
}

const likePattern = (text: string): string =>
  text.replace(/[\\%_]/g, '\\$&').replace(/\*/g, '%');

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' OR ')})`;
