/**
 * Any text as a sequence of words separated by blanks; the end of a line counts as a word. This
 * is the form of the Penn Treebank (Mikolov's `ptb.train.txt`), which has `<unk>` for
 * unknown words and, with line ends, 10,000 different words.
 */
import { vocabularyText } from './vocabulary-text.ts';

const END_OF_LINE = '<eos>';

export const textWords = vocabularyText({
  id: 'text-words',
  title: 'Text by words',
  summary:
    'A text file, or the .txt files of a directory, by words; rare words are unknown',
  noun: 'words',
  tokens: words,
  unknown: '<unk>',
  cuts: true,
});

function* words(text: string): Generator<string> {
  for (const [found] of text.matchAll(/\n|\S+/g)) {
    yield found === '\n' ? END_OF_LINE : found;
  }
}
