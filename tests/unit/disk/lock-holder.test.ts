/** What is known of the process that holds a home's lock. */
import { expect, test } from 'vitest';
import {
  fateOf,
  ownHolder,
  parseHolder,
  thisMachine,
  type LockHolder,
  type Machine,
} from '../../../src/disk/lock-holder.ts';

const here: Machine = { host: 'login1', machine: 'm1', boot: 'b1', namespaces: 'n1' };
const own = ownHolder('0'.repeat(32));
const mine: LockHolder = { ...own, ...here };

/** The id of no process: beyond what Linux gives away. */
const gone = 2 ** 30;

test.each<[Partial<LockHolder>, string]>([
  [{}, 'alive'],
  [{ pid: gone }, 'dead'],
  [{ started: 'earlier' }, 'dead'],
  [{ boot: 'b0' }, 'dead'],
  // Process ids of another PID namespace mean nothing here.
  [{ namespaces: 'n2', pid: gone }, 'hidden'],
  [{ namespaces: 'n2', boot: 'b0' }, 'dead'],
  // Whatever else it says.
  [{ host: 'login2', boot: 'b0', pid: gone }, 'elsewhere'],
  [{ host: 'login2' }, 'elsewhere'],
  [{ machine: 'm2', boot: 'b0', pid: gone }, 'elsewhere'],
  // What a system does not tell proves nothing.
  [{ boot: undefined, machine: undefined, started: undefined }, 'alive'],
])('a holder with %j is %s', (difference, fate) => {
  expect(fateOf({ ...mine, ...difference }, here)).toBe(fate);
});

test('this process is alive, and survives being written down', () => {
  expect(fateOf(own)).toBe('alive');
  expect(parseHolder(JSON.stringify(own))).toEqual(own);
  expect(own.host).toBe(thisMachine().host);
});

test.each(['', '{', 'null', '{}', '[]', '{"token":"../../x","host":"a","pid":1}'])(
  'what is no holder is none: %s',
  (text) => {
    expect(parseHolder(text)).toBeUndefined();
  },
);
