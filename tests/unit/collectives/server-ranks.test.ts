import { describe, expect, test } from 'vitest';
import { serverRanks } from '../../../src/agent/collectives/server-ranks.ts';

describe('servers', () => {
  test.each([
    ['the first ranks of one node', [0, 0, 0, 0], 3, [0, 1, 2]],
    ['rank 0 where there is one', [2, 2, 5, 5], 1, [0]],
    ['one on each node', [0, 0, 0, 1, 1, 1], 2, [0, 3]],
    ['on each node before any has a second', [0, 0, 0, 1, 1, 2], 4, [0, 1, 3, 5]],
    ['wherever a node has ranks left', [0, 1, 0, 0], 3, [0, 1, 2]],
    ['of ranks that are dealt out in turns', [7, 3, 7, 3], 3, [0, 1, 2]],
    ['all ranks', [0, 1, 1, 2], 4, [0, 1, 2, 3]],
    ['one rank alone', [9], 1, [0]],
  ])('%s', (_, places, servers, expected) => {
    expect(serverRanks(places, servers)).toEqual(expected);
  });

  test.each([
    [[0, 0, 0], 4, 'servers is 4, but only 3 ranks exchange', '1 to 3'],
    [[0], 2, 'servers is 2, but only 1 rank exchanges', '1 to 1'],
    [[0, 0], 0, 'servers is 0, not a whole number from 1 to 2', '1 to 2'],
    [[0, 0], 1.5, 'servers is 1.5, not a whole number from 1 to 2', '1 to 2'],
  ])('places %j, servers %d: refused', (places, servers, message, next) => {
    expect(() => serverRanks(places, servers)).toThrow(
      expect.objectContaining({
        code: 'SERVERS_INVALID',
        kind: 'input',
        message,
        next: expect.stringContaining(next) as string,
      }),
    );
  });
});
