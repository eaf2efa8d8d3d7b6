/** Any text as a sequence of characters: Unicode code points. */
import { vocabularyText } from './vocabulary-text.ts';

export const textCharacters = vocabularyText({
  id: 'text-characters',
  title: 'Text by characters',
  summary: 'A text file, or the .txt files of a directory, by Unicode characters',
  noun: 'characters',
  // A string's iterator gives code points.
  tokens: (text) => text,
  cuts: false,
});
