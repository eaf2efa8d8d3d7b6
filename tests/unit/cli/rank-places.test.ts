import { expect, test } from 'vitest';
import { describePlaces } from '../../../src/cli/text/rank-places.ts';

const on = (node: string, ...ranks: number[]) =>
  ranks.map((rank) => ({ rank, node, pid: 1 }));

test.each([
  [[], undefined],
  [on('a', 0, 1, 2), undefined],
  [[...on('b', 2, 3), ...on('a', 1, 0)], 'ranks 0–1 on a, 2–3 on b'],
  [[...on('a', 0, 2, 4, 5, 6), ...on('b', 1, 3)], 'ranks 0, 2, 4–6 on a, 1, 3 on b'],
])('%#: %s', (processes, text) => {
  expect(describePlaces(processes)).toBe(text);
});
