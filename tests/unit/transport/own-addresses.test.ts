/** The order in which addresses of a machine are tried, and which are none for others. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takingTurns } from '../../../src/agent/transport/own-addresses.ts';
import { isLinkLocal } from '../../../src/shared/machines/link-local.ts';

const [A, B, C] = ['fd00::1', 'fd00::2', '2001:db8::3'] as const;
const [X, Y] = ['10.0.0.1', '10.0.0.2'] as const;

test.each([
  [undefined, [X, Y, A, B, C], [A, X, B, Y, C]],
  // A name may stand for both.
  ['box.lab', [X, A], [A, X]],
  ['10.9.9.9', [X, A], [A, X]],
  ['fd00::9', [A, B, X], [X, A, B]],
  [undefined, [X, Y], [X, Y]],
  ['fd00::9', [B, A], [B, A]],
  [undefined, [], []],
])('after %s, %j are tried as %j', (tried, addresses, order) => {
  expect(takingTurns(addresses, tried)).toEqual(order);
});

test('none is lost, and each family keeps its order', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(fc.uniqueArray(address, { maxLength: 12 }), address, (all, tried) => {
      const order = takingTurns(all, tried);
      for (const isSix of [true, false]) {
        const of = (list: readonly string[]): readonly string[] =>
          list.filter((one) => one.includes(':') === isSix);
        expect(of(order)).toEqual(of(all));
      }
      expect(order).toHaveLength(all.length);
    }),
  );
});

test.each([
  ['fe80::1', true],
  ['FE80::1%eth0', true],
  ['febf::1', true],
  ['fec0::1', false],
  ['169.254.1.1', true],
  ['fd00::fe80', false],
  ['2001:db8::1', false],
  ['10.0.169.254', false],
])('%s holds on one link alone: %j', (address, is) => {
  expect(isLinkLocal(address)).toBe(is);
});
