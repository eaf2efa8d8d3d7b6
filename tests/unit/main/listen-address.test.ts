/** Where ranks listen: what each machine of a run is told. */
import { describe, expect, test } from 'vitest';
import { listenAddress } from '../../../src/main/cluster/listen-address.ts';
import type { NodeAddresses } from '../../../src/main/cluster/node-access.ts';

const HERE: NodeAddresses = { there: '127.0.0.1' };
const A: NodeAddresses = { there: '10.1.0.2', here: '10.1.0.9' };
const B: NodeAddresses = { there: '10.2.0.2', here: '10.1.0.9' };
const ELSEWHERE: NodeAddresses = { there: '10.3.0.2', here: '10.3.0.9' };
const SIX: NodeAddresses = { there: 'fd00::2', here: 'fd00::9' };
const CHOSEN: NodeAddresses = {
  there: 'box.lab.example',
  here: '10.1.0.9',
  chosen: true,
};

describe('ranks listen', () => {
  test.each([
    ['alone', [HERE], ['127.0.0.1']],
    ['alone there', [A], ['127.0.0.1']],
    ['at what SSH shows', [HERE, A, B], ['10.1.0.9', '10.1.0.2', '10.2.0.2']],
    [
      'at all, where they are seen at two',
      [HERE, A, ELSEWHERE],
      ['::', '10.1.0.2', '10.3.0.2'],
    ],
    ['at all, where families differ', [A, SIX], ['::', '::']],
    ['at all, here as well', [HERE, A, SIX], ['::', '::', '::']],
    ['of one family alone', [HERE, SIX], ['fd00::9', 'fd00::2']],
    ['at the chosen one', [CHOSEN, SIX, A], ['box.lab.example', '::', '::']],
    ['at a name, which has no family', [HERE, CHOSEN], ['10.1.0.9', 'box.lab.example']],
  ])('%s', (_, nodes, expected) => {
    const links = nodes.map((addresses) => ({ addresses }));
    expect(links.map((link) => listenAddress(link, links))).toEqual(expected);
  });
});
