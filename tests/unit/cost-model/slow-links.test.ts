import { describe, expect, test } from 'vitest';
import { slowLinks } from '../../../src/shared/cost-model/slow-links.ts';
import type { LinkStatus } from '../../../src/shared/machines/link-status.ts';

/** By pair, the same both ways: Mbit/s and µs. */
function linksOf(
  pairs: Readonly<Record<string, readonly [rate: number, latency: number]>>,
): readonly LinkStatus[] {
  return Object.entries(pairs).flatMap(([pair, [rate, latency]]) => {
    const [a, b] = pair.split(' ') as [string, string];
    const measure = {
      alpha: latency / 1e6,
      beta: 8 / (rate * 1e6),
      measuredAt: 0,
      ...{ addresses: { from: 'x', to: 'y' }, transport: 'tcp', encrypted: true },
    };
    return [
      { from: a, to: b, measure },
      { from: b, to: a, measure },
    ];
  });
}

describe('links that stand out', () => {
  test.each([
    ['alike', { 'a b': [1000, 50], 'a c': [940, 60], 'b c': [400, 90] }],
    ['between two machines', { 'a b': [1, 90_000] }],
    ['small in latency', { 'a b': [1000, 10], 'a c': [1000, 10], 'b c': [1000, 190] }],
  ] as const)('none of those that are %s', (_, pairs) => {
    expect(slowLinks(linksOf(pairs))).toEqual([]);
  });

  test('a machine, where all of its links are slow', () => {
    const links = linksOf({ 'a b': [1000, 50], 'a c': [95, 50], 'b c': [94, 50] });
    expect(slowLinks(links)).toEqual([
      'c has 10.5× less bandwidth than the other machines: at best 95.0 Mbit/s',
    ]);
  });

  test('a link, where both machines do better elsewhere; latency by itself', () => {
    const links = linksOf({
      'a b': [1000, 50],
      'a c': [1000, 50],
      'a d': [1000, 50],
      'b c': [100, 50],
      'b d': [1000, 50],
      'c d': [1000, 4000],
    });
    expect(slowLinks(links)).toEqual([
      'b → c has 10.0× less bandwidth than either has elsewhere: 100 Mbit/s',
      'c → b has 10.0× less bandwidth than either has elsewhere: 100 Mbit/s',
      'c → d has 20.0× more latency than either has elsewhere: 4.00 ms',
      'd → c has 20.0× more latency than either has elsewhere: 4.00 ms',
    ]);
  });

  test('this computer has its name in texts', () => {
    const links = linksOf({
      'a b': [1000, 50],
      'a this-computer': [100, 50],
      'b this-computer': [100, 50],
    });
    expect(slowLinks(links)).toEqual([
      'this computer has 10.0× less bandwidth than the other machines: at best 100 Mbit/s',
    ]);
  });

  test('what was not measured counts for nothing', () => {
    const failed = {
      at: 0,
      error: { code: 'X', kind: 'failure', message: 'x' },
    } as const;
    const links = linksOf({ 'a b': [1000, 50] });
    expect(slowLinks([...links, { from: 'a', to: 'c', failure: failed }])).toEqual([]);
  });
});
