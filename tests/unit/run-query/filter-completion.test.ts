import { expect, it } from 'vitest';
import {
  completed,
  completionsAt,
} from '../../../src/renderer/components/run-list/filter-completion.ts';

const vocabulary = {
  specKeys: ['exchange.method', 'exchange.ratio', 'optimizer.learningRate', 'seed'],
  values: { tag: ['paper', 'two', 'Päper'], method: ['none', 'topk'], model: ['a b'] },
};

/** Labels of the completions at `|`. */
function labels(marked: string): readonly string[] {
  const { items } = at(marked);
  return items.map(({ label }) => label);
}

function at(marked: string) {
  const cursor = marked.indexOf('|');
  return completionsAt(marked.replace('|', ''), cursor, vocabulary);
}

/** The filter after the first completion at `|`, with the cursor. */
function take(marked: string): string {
  const { items, span } = at(marked);
  const { cursor, filter } = completed(marked.replace('|', ''), span, items[0]!);
  return `${filter.slice(0, cursor)}|${filter.slice(cursor)}`;
}

it('offers keys of the list and of specs where a term begins', () => {
  expect(labels('|')).toContain('state');
  expect(labels('loss<1 |')).toContain('tag');
  expect(labels('m|')).toEqual([
    'method',
    'model',
    'machine',
    'metric',
    'exchange.method',
  ]);
  expect(labels('rat|')).toEqual(['exchange.ratio']);
  expect(labels('exchange.r|')).toEqual(['exchange.ratio']);
  expect(labels('LEARN|')).toEqual(['optimizer.learningRate']);
  expect(labels('-ta|')).toEqual(['tag']);
  expect(labels('"ta|')).toEqual([]);
});

it('offers values that runs have, after a comma too', () => {
  expect(labels('tag:|')).toEqual(['paper', 'two', 'Päper']);
  expect(labels('tag:pä|')).toEqual(['Päper']);
  expect(labels('a tag:two,p|')).toEqual(['paper', 'Päper']);
  expect(labels('state:st|')).toEqual(['starting', 'stopped']);
  expect(labels('started>to|')).toEqual(['today']);
  expect(labels('loss<|')).toEqual([]);
  expect(labels('nosuch:|')).toEqual([]);
});

it('puts what is chosen in the place of what was begun', () => {
  expect(take('los|')).toBe('loss<|');
  expect(take('-t|')).toBe('-tag:|');
  expect(take('tag:tw|')).toBe('tag:two |');
  expect(take('tag:tw| loss<1')).toBe('tag:two| loss<1');
  expect(take('tag:two,pa|')).toBe('tag:two,paper |');
  expect(take('model:|')).toBe('model:"a b" |');
});
