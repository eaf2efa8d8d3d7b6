import { expect, test } from 'vitest';
import type { RankProcess } from '../../../src/shared/records/fields.ts';
import {
  describeGpus,
  describePlaces,
} from '../../../src/shared/records/rank-places.ts';

const on = (node: string, ...ranks: number[]) =>
  ranks.map((rank) => ({ rank, node, pid: 1 }));

test.each([
  [[], ['a'], undefined],
  // Records have this computer's host name.
  [on('host', 0, 1, 2), ['this-computer'], undefined],
  [on('a', 0, 1, 2), ['a'], 'ranks 0–2 on a'],
  [on('a', 0), ['a'], 'rank 0 on a'],
  [
    [...on('b', 2, 3), ...on('host', 1, 0)],
    ['this-computer', 'b'],
    'ranks 0–1 on this computer, 2–3 on b',
  ],
  [
    [...on('a', 0, 2, 4, 5, 6), ...on('b', 1, 3)],
    ['a', 'b'],
    'ranks 0, 2, 4–6 on a, 1, 3 on b',
  ],
  // Nodes of a cluster.
  [[...on('n0', 0, 1), ...on('n1', 2)], ['hpc'], 'ranks 0–1 on n0, 2 on n1'],
])('%#: %s', (processes, nodes, text) => {
  expect(describePlaces(processes, nodes)).toBe(text);
});

test('GPUs are named with their ranks, if any is known', () => {
  const [first, second] = on('a', 0, 1) as [RankProcess, RankProcess];
  const [bus, other] = ['00000000:3B:00.0', '00000000:5E:00.0'];
  expect(describeGpus([first, second])).toBeUndefined();
  expect(describeGpus([{ ...second, bus: other }, first])).toBe(
    `GPUs: rank 1 at ${other}`,
  );
  expect(
    describeGpus([
      { ...second, bus: other },
      { ...first, bus },
    ]),
  ).toBe(`GPUs: rank 0 at ${bus}, rank 1 at ${other}`);
});
