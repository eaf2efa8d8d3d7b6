/** Ranks by machine: which machines are listed and open, and their means. */
import { describe, expect, it } from 'vitest';
import {
  listedGroups,
  meansOfRanks,
  openNodes,
  rankGroups,
} from '../../../src/renderer/state/runs/rank-groups.ts';

/** Ranks by machine, as many on each of `n0`, `n1`… */
const placed = (machines: number, perMachine: number) => {
  const ranks = machines * perMachine;
  const nodes = new Map(
    Array.from({ length: ranks }, (_, rank) => [
      rank,
      `n${Math.floor(rank / perMachine)}`,
    ]),
  );
  return rankGroups(ranks, nodes);
};
const names = (groups: Iterable<{ readonly node: string }>): readonly string[] =>
  Array.from(groups, ({ node }) => node);

describe('ranks', () => {
  it('are grouped by machine, in the order of the first rank of each', () => {
    const nodes = new Map([
      [0, 'b'],
      [1, 'a'],
      [2, 'b'],
      [3, 'a'],
    ]);
    expect(rankGroups(4, nodes)).toEqual([
      { node: 'b', ranks: [0, 2] },
      { node: 'a', ranks: [1, 3] },
    ]);
  });

  it('are not grouped on one machine, named or not', () => {
    expect(rankGroups(4, new Map())).toEqual([]);
    expect(placed(1, 4)).toEqual([]);
  });
});

describe('machines', () => {
  it('are all open while they have few ranks', () => {
    expect([...openNodes(placed(2, 4), [])]).toEqual(['n0', 'n1']);
    expect([...openNodes(placed(2, 5), [])]).toEqual(['n0']);
    expect([...openNodes(placed(2, 32), [undefined])]).toEqual(['n0']);
  });

  it('are open if they have the straggler or the chosen rank', () => {
    expect([...openNodes(placed(8, 8), [63, undefined])]).toEqual(['n0', 'n7']);
    expect([...openNodes(placed(8, 8), [16, 24])]).toEqual(['n0', 'n2', 'n3']);
  });

  it('are listed up to a number, and those that must be in view', () => {
    const groups = placed(128, 8);
    const first = Array.from({ length: 16 }, (_, index) => `n${index}`);
    expect(names(listedGroups(groups, { all: false, needed: [] }))).toEqual(first);
    expect(names(listedGroups(groups, { all: false, needed: [801, 3] }))).toEqual([
      ...first,
      'n100',
    ]);
    expect(listedGroups(groups, { all: true, needed: [] })).toHaveLength(128);
  });
});

describe('the mean of a machine', () => {
  it('is over its ranks that are known', () => {
    const ranks = [
      { wall: 10, wait: 2 },
      { wall: NaN, wait: NaN },
      undefined,
      { wall: 20, wait: 7 },
    ];
    expect(meansOfRanks(ranks)).toEqual({ wall: 15, wait: 4.5 });
  });

  it('is unknown if none is', () => {
    expect(meansOfRanks([undefined, { wall: NaN, wait: NaN }])).toBeUndefined();
  });
});
