/**
 * A filter of runs in one line: `method:topk loss<0.2 -tag:draft "two words"`. All its terms must
 * hold; values that are separated by commas are alternatives; `-` before a term excludes; `*` stands
 * for any characters, and alone for any value. The page, the command and main read it here.
 */
import { inputError } from '../errors/errors.ts';
import {
  filterTokens,
  type FilterOperator,
  type TermToken,
  type TextSpan,
  type ValueToken,
} from './filter-tokens.ts';
import { readValue, VALUE_FORMS } from './filter-value.ts';
import { placeId, type KeyPlace, type RunKeyKind } from './run-key.ts';
import { findKey } from './spec-keys.ts';

/** Longest filter, in UTF-16 units, and most of its terms: a person writes fewer. */
export const LONGEST_FILTER = 1000;
export const MOST_TERMS = 32;

interface NumberTest {
  readonly operator: '<' | '<=' | '=' | '>' | '>=';
  readonly value: number;
}

/** A text that a value may be: any part of it, or the whole, in which `*` is any text. */
export interface TextPattern {
  readonly text: string;
  readonly isWhole: boolean;
  /** The value that it may be as a number, for keys whose kind is not known. */
  readonly number?: number | undefined;
}

/** One condition. The key of `words` is all that the list finds texts in. */
export type FilterTerm = { readonly isNegated: boolean } & (
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'present'; readonly key: KeyPlace }
  | {
      readonly kind: 'match';
      readonly key: KeyPlace;
      readonly patterns: readonly TextPattern[];
    }
  | {
      readonly kind: 'compare';
      readonly key: KeyPlace;
      /** Lists of tests. The term holds if all tests of one of the lists do. */
      readonly alternatives: readonly (readonly NumberTest[])[];
    }
);

/** Something in a filter that cannot be read, and where. */
interface FilterProblem extends TextSpan {
  readonly message: string;
  readonly next: string;
}

export interface ReadFilter {
  readonly terms: readonly FilterTerm[];
  readonly problems: readonly FilterProblem[];
}

/** Facts that a reader of filters needs. */
export interface FilterContext {
  /** Keys of specs in the history. */
  readonly specKeys: readonly string[];
  readonly now: number;
}

/** Reads a filter as far as it can be read. */
export function readFilter(text: string, context: FilterContext): ReadFilter {
  const terms: FilterTerm[] = [];
  const problems: FilterProblem[] = [];
  if (text.length > LONGEST_FILTER) {
    problems.push({
      from: LONGEST_FILTER,
      to: text.length,
      message: `a filter has at most ${LONGEST_FILTER} characters`,
      next: 'Shorten it.',
    });
    return { terms, problems };
  }
  for (const [index, token] of filterTokens(text).entries()) {
    if (index === MOST_TERMS) {
      problems.push({
        from: token.from,
        to: text.length,
        message: `a filter has at most ${MOST_TERMS} terms`,
        next: 'Leave some out.',
      });
      break;
    }
    if (token.kind === 'words') {
      const { isNegated } = token;
      if (token.text !== '') terms.push({ kind: 'words', text: token.text, isNegated });
      continue;
    }
    const read = readTerm(token, context);
    if ('message' in read) problems.push(read);
    else terms.push(read);
  }
  return { terms, problems };
}

/**
 * Reads a whole filter.
 * @throws GradwireError `RUN_FILTER_INVALID`, with the place
 */
export function parseFilter(
  text: string,
  context: FilterContext,
): readonly FilterTerm[] {
  const { problems, terms } = readFilter(text, context);
  const [first] = problems;
  if (first === undefined) return terms;
  throw inputError('RUN_FILTER_INVALID', first.message, {
    place: `filter, character ${first.from + 1}`,
    next: first.next,
  });
}

function readTerm(
  token: TermToken,
  context: FilterContext,
): FilterTerm | FilterProblem {
  const { key, operator, values } = token;
  const found = findKey(key.text, context.specKeys);
  if ('problem' in found) {
    return { from: key.from, to: key.to, message: found.problem, next: found.next };
  }
  const { place } = found;
  const kind = place.of === 'run' ? place.key.kind : undefined;
  if (values.length === 0) {
    const next =
      kind === undefined
        ? 'a value'
        : (valuesOf(place)?.join(', ') ?? VALUE_FORMS[kind]);
    return {
      from: token.from,
      to: token.to,
      message: `"${key.text}${operator}" has no value`,
      next: `Write ${next} after it.`,
    };
  }
  const isNegated = token.isNegated !== (operator === '!=');
  const isEqual = operator === ':' || operator === '=' || operator === '!=';
  if (isEqual && values.some(isAny)) return { kind: 'present', key: place, isNegated };
  if (!isEqual && values.length > 1) {
    const { from, to } = values[1]!;
    return {
      from,
      to,
      message: `"${key.text}${operator}" takes one value`,
      next: `Write a second term, or ${key.text}: with values between commas.`,
    };
  }
  return kind === undefined || kind === 'text' || kind === 'word'
    ? readMatch(token, place, kind, isNegated)
    : readCompare(token, place, kind, isNegated, context.now);
}

const isAny = ({ isQuoted, text }: ValueToken): boolean => text === '*' && !isQuoted;

function readMatch(
  { key, operator, values }: TermToken,
  place: KeyPlace,
  kind: 'text' | 'word' | undefined,
  isNegated: boolean,
): FilterTerm | FilterProblem {
  const isOrdered = operator !== ':' && operator !== '=' && operator !== '!=';
  if (isOrdered) {
    const value = values[0]!;
    const number = kind === undefined ? readValue(value.text, 'number', 0) : undefined;
    if (number !== undefined) {
      const alternatives = [[{ operator, value: number.from }]];
      return { kind: 'compare', key: place, alternatives, isNegated };
    }
    return {
      from: kind === undefined ? value.from : key.from,
      to: kind === undefined ? value.to : key.to,
      message:
        kind === undefined
          ? `"${value.text}" is not a number`
          : `"${key.text}" has no order, so ${operator} cannot be asked of it`,
      next:
        kind === undefined
          ? `Write ${VALUE_FORMS.number}, or use a colon.`
          : `Use a colon: ${key.text}:${value.text}.`,
    };
  }
  const known = valuesOf(place);
  const wrong = values.find(({ text }) => isUnknown(text, known));
  if (known !== undefined && wrong !== undefined) {
    return {
      from: wrong.from,
      to: wrong.to,
      message: `there is no ${placeId(place)} "${wrong.text}"`,
      next: `Write ${known.slice(0, -1).join(', ')} or ${known.at(-1)!}.`,
    };
  }
  const patterns = values.map(({ text }): TextPattern => ({
    text,
    isWhole: kind !== 'text' || operator !== ':' || text.includes('*'),
    number: kind === undefined ? readValue(text, 'number', 0)?.from : undefined,
  }));
  return { kind: 'match', key: place, patterns, isNegated };
}

/** All values that a key has; undefined: any. */
const valuesOf = (place: KeyPlace): readonly string[] | undefined =>
  place.of === 'run' ? place.key.values : undefined;

const isUnknown = (text: string, known: readonly string[] | undefined): boolean =>
  known?.includes(text.toLowerCase()) === false && !text.includes('*');

function readCompare(
  { key, operator, values }: TermToken,
  place: KeyPlace,
  kind: Exclude<RunKeyKind, 'text' | 'word'>,
  isNegated: boolean,
  now: number,
): FilterTerm | FilterProblem {
  const alternatives: (readonly NumberTest[])[] = [];
  for (const { from, text, to } of values) {
    const span = readValue(text, kind, now);
    if (span === undefined) {
      return {
        from,
        to,
        message: `"${text}" is no value of "${key.text}"`,
        next: `Write ${VALUE_FORMS[kind]}.`,
      };
    }
    alternatives.push(testsOf(operator, span));
  }
  return { kind: 'compare', key: place, alternatives, isNegated };
}

/** Tests of a value against a stretch: `> 2026-11-01` begins with the next day. */
function testsOf(
  operator: FilterOperator,
  { from, to }: { readonly from: number; readonly to: number },
): readonly NumberTest[] {
  const isPoint = from === to;
  switch (operator) {
    case '<':
    case '>=':
      return [{ operator, value: from }];
    case '>':
      return [isPoint ? { operator, value: to } : { operator: '>=', value: to }];
    case '<=':
      return [isPoint ? { operator, value: to } : { operator: '<', value: to }];
    case ':':
    case '=':
    case '!=':
      return isPoint
        ? [{ operator: '=', value: from }]
        : [
            { operator: '>=', value: from },
            { operator: '<', value: to },
          ];
    default:
      return operator satisfies never;
  }
}
