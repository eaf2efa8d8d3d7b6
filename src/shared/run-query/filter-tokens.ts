/**
 * A filter's text in tokens: terms such as `-tag:paper` and `loss < 0.2`, and words. Every token
 * knows where it stands, so that what is wrong can be shown there.
 */

/** An operator. `:` is the one that suits the key. */
export type FilterOperator = '!=' | ':' | '<' | '<=' | '=' | '>' | '>=';

/** A part of the text, from ≤ place < to, in UTF-16 units. */
export interface TextSpan {
  readonly from: number;
  readonly to: number;
}

/** A value of a term, without its quotes. */
export interface ValueToken extends TextSpan {
  readonly text: string;
  readonly isQuoted: boolean;
}

export interface TermToken extends TextSpan {
  readonly kind: 'term';
  readonly isNegated: boolean;
  readonly key: TextSpan & { readonly text: string };
  readonly operator: FilterOperator;
  /** Alternatives, separated by commas; empty if none is written yet. */
  readonly values: readonly ValueToken[];
}

interface WordsToken extends TextSpan {
  readonly kind: 'words';
  readonly isNegated: boolean;
  readonly text: string;
}

export type FilterToken = TermToken | WordsToken;

const KEY = /[A-Za-z][\w.-]*/y;
const SPACED_OPERATOR = /\s*(<=|>=|!=|<|>|=)\s*|(:)\s*/y;
const BARE_WORD = /[^\s"]+/y;
const BARE_VALUE = /[^\s",]+/y;
/** A quoted text; one that is not closed yet goes to the end. */
const QUOTED = /"([^"]*)"?/y;

export function filterTokens(text: string): readonly FilterToken[] {
  const tokens: FilterToken[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    if (at >= text.length) return tokens;
    const token = termAt(text, at) ?? wordsAt(text, at);
    tokens.push(token);
    at = token.to;
  }
}

function termAt(text: string, from: number): TermToken | undefined {
  const isNegated = text[from] === '-';
  const start = isNegated ? from + 1 : from;
  const key = matchAt(KEY, text, start);
  if (key === undefined) return undefined;
  const end = start + key[0].length;
  const operator = matchAt(SPACED_OPERATOR, text, end);
  if (operator === undefined) return undefined;
  const afterOperator = end + operator[0].length;
  const values = valuesAt(text, afterOperator);
  return {
    kind: 'term',
    from,
    to: values.at(-1)?.to ?? afterOperator,
    isNegated,
    key: { text: key[0], from: start, to: end },
    operator: (operator[1] ?? operator[2]) as FilterOperator,
    values,
  };
}

function valuesAt(text: string, from: number): readonly ValueToken[] {
  const values: ValueToken[] = [];
  let at = from;
  for (;;) {
    const quoted = matchAt(QUOTED, text, at);
    const bare = quoted === undefined ? matchAt(BARE_VALUE, text, at) : undefined;
    const match = quoted ?? bare;
    if (match !== undefined) {
      const to = at + match[0].length;
      const value = quoted?.[1] ?? match[0];
      values.push({ text: value, isQuoted: quoted !== undefined, from: at, to });
      at = to;
    }
    if (text[at] !== ',') return values;
    at++;
  }
}

function wordsAt(text: string, from: number): WordsToken {
  const isNegated = text[from] === '-' && /\S/.test(text.charAt(from + 1));
  const start = isNegated ? from + 1 : from;
  const quoted = matchAt(QUOTED, text, start);
  const match = quoted ?? matchAt(BARE_WORD, text, start)!;
  return {
    kind: 'words',
    from,
    to: start + match[0].length,
    isNegated,
    text: quoted?.[1] ?? match[0],
  };
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
