/** Processes, known by their names in the history. */
import { expect, test } from 'vitest';
import { ownHolder } from '../../../src/disk/lock-holder.ts';
import {
  lifeOf,
  ownName,
  type ProcessLife,
} from '../../../src/main/home/process-name.ts';

const named = (difference: object): string =>
  JSON.stringify({ ...ownHolder('0'.repeat(32)), ...difference });

/** The id of no process: beyond what Linux gives away. */
const gone = 2 ** 30;

test.each<[string, string, ProcessLife]>([
  ['this process', ownName(), 'alive'],
  ['another name of it', named({}), 'alive'],
  ['one that has ended', named({ pid: gone }), 'dead'],
  ['one in another container', named({ namespaces: 'other', pid: gone }), 'unknown'],
  ['one on another host', named({ host: 'other', pid: gone }), 'unknown'],
  ['a number of an earlier version', String(process.pid), 'alive'],
  ['such a number of one that has ended', String(gone), 'dead'],
  ['nonsense', '{', 'dead'],
])('%s', (_, name, life) => {
  expect(lifeOf(name)).toBe(life);
});

test('a process has one name', () => {
  expect(ownName()).toBe(ownName());
});
