import { expect, test } from 'vitest';
import { methodsText } from '../../../src/cli/commands/runs-list.ts';

test.each([
  [[], ''],
  [['none'], 'none'],
  [['none', 'topk', 'qsgd', 'dct'], 'none → topk → qsgd → dct'],
  [['a', 'b', 'c', 'd', 'e'], 'a → b → c → … 1 more … → e'],
  [Array.from({ length: 100 }, (_, i) => `m${i}`), 'm0 → m1 → m2 → … 96 more … → m99'],
])('a list of %j', (methods, text) => {
  expect(methodsText(methods)).toBe(text);
});
