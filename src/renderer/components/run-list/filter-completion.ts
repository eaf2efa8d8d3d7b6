/**
 * Completions of a filter while it is written: keys where a term begins, values after its operator.
 * The chosen one takes the place of the part before the cursor.
 */
import type { RunVocabulary } from '../../../shared/run-query/run-page.ts';
import {
  filterTokens,
  type TextSpan,
} from '../../../shared/run-query/filter-tokens.ts';
import { RUN_KEYS } from '../../../shared/run-query/run-key.ts';
import { findKey } from '../../../shared/run-query/spec-keys.ts';

export interface Completion {
  /** The text that is put in. */
  readonly text: string;
  /** The text that is shown. */
  readonly label: string;
  readonly about: string;
}

export interface Completions {
  /** The part of the filter that a completion replaces. */
  readonly span: TextSpan;
  readonly items: readonly Completion[];
}

const MOST_ITEMS = 12;

export function completionsAt(
  filter: string,
  cursor: number,
  vocabulary: RunVocabulary,
): Completions {
  const before = filter.slice(0, cursor);
  const last = filterTokens(before).at(-1);
  const isOpen = last !== undefined && last.to === before.length;
  if (!isOpen || /[^\s:=<>!]\s+$/.test(before)) {
    return { span: { from: cursor, to: cursor }, items: keyItems('', vocabulary) };
  }
  if (last.kind === 'words') {
    const from = last.from + (last.isNegated ? 1 : 0);
    // A quoted text is no key.
    const items = before[from] === '"' ? [] : keyItems(last.text, vocabulary);
    return { span: { from, to: cursor }, items };
  }
  const value = last.values.at(-1);
  const isNext = value === undefined || before.endsWith(',');
  const from = isNext ? cursor : value.from;
  const begun = isNext ? '' : value.text;
  return {
    span: { from, to: cursor },
    items: valueItems(last.key.text, begun, vocabulary),
  };
}

function keyItems(begun: string, { specKeys }: RunVocabulary): readonly Completion[] {
  const wanted = begun.toLowerCase();
  const own = RUN_KEYS.filter(({ id }) => id.startsWith(wanted)).map(
    ({ about, example, id }): Completion => ({
      text: id + /^[a-z]+(:|[<>]=?)/.exec(example)![1]!,
      label: id,
      about: `${about}, as in ${example}`,
    }),
  );
  if (wanted === '') return own.slice(0, MOST_ITEMS);
  const specs = specKeys
    .filter((key) =>
      key
        .toLowerCase()
        .split('.')
        .some((_, index, parts) => parts.slice(index).join('.').startsWith(wanted)),
    )
    .map((key): Completion => ({
      text: `${key}:`,
      label: key,
      about: 'key of the spec',
    }));
  return [...own, ...specs].slice(0, MOST_ITEMS);
}

function valueItems(
  name: string,
  begun: string,
  { specKeys, values }: RunVocabulary,
): readonly Completion[] {
  const found = findKey(name, specKeys);
  if (!('place' in found) || found.place.of === 'spec') return [];
  const { key } = found.place;
  const known: readonly string[] =
    key.values ??
    (key.kind === 'moment' ? ['today', 'yesterday'] : (values[key.id] ?? []));
  const wanted = begun.toLowerCase();
  return known
    .filter((word) => word.toLowerCase().startsWith(wanted) && word !== begun)
    .slice(0, MOST_ITEMS)
    .map((word) => ({
      text: /[\s",]/.test(word) ? `"${word.replaceAll('"', '*')}"` : word,
      label: word,
      about: '',
    }));
}

/** The filter with a completion, and where the cursor is then. */
export function completed(
  filter: string,
  { from, to }: TextSpan,
  { text }: Completion,
): { readonly filter: string; readonly cursor: number } {
  const rest = filter.slice(to);
  // A value is followed by the next term.
  const isValue = !/[:<>=]$/.test(text);
  const put = isValue && rest === '' ? `${text} ` : text;
  return { filter: filter.slice(0, from) + put + rest, cursor: from + put.length };
}
