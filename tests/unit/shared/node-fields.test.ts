/** A machine's fields and its entry are the same thing said twice. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hostAndPort,
  joinDestination,
  splitDestination,
} from '../../../src/shared/machines/destination.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import {
  entryFrom,
  NODE_FIELDS,
  valuesOf,
} from '../../../src/shared/machines/node-fields.ts';

describe('a destination', () => {
  test.each([
    ['box', { host: 'box' }],
    ['me@box:2222', { user: 'me', host: 'box', port: '2222' }],
    ['a@b@box', { user: 'a@b', host: 'box' }],
    ['::1', { host: '::1' }],
    ['me@fd00::2', { user: 'me', host: 'fd00::2' }],
    ['[fd00::2]:22', { host: 'fd00::2', port: '22' }],
    ['me@[fe80::1%eth0]:22', { user: 'me', host: 'fe80::1%eth0', port: '22' }],
  ])('%s is taken apart and put together', (text, parts) => {
    expect(splitDestination(text)).toEqual(parts);
    expect(joinDestination(parts)).toBe(text);
  });

  test.each([
    ['ssh://me@box:22/', { user: 'me', host: 'box', port: '22' }],
    ['[::1]', { host: '::1' }],
    ['box:', { host: 'box', port: '' }],
  ])('%s is read', (text, parts) => {
    expect(splitDestination(text)).toEqual(parts);
  });

  test('an IPv6 address has brackets beside its port', () => {
    expect(hostAndPort('fd00::2', 22)).toBe('[fd00::2]:22');
    expect(hostAndPort('10.0.0.2', 22)).toBe('10.0.0.2:22');
  });
});

describe('the entry of fields', () => {
  // None is a constant of YAML, such as no, which names may not be.
  const word = fc.stringMatching(/^w[a-z0-9]{0,8}$/);
  const list = (item: fc.Arbitrary<string>) => fc.uniqueArray(item, { maxLength: 3 });
  const count = fc.integer({ min: 1, max: 99 });
  const entries = fc
    .record(
      {
        name: word,
        destination: fc.constantFrom('box', 'me@box:22', 'fd00::2', 'me@[fd00::2]:22'),
        identities: list(word.map((name) => `/keys/${name}`)),
        jump: fc.constantFrom('a', 'a,me@[fd00::1]:22'),
        configFile: fc.constant('/etc/config'),
        transport: fc.constantFrom('system' as const, 'builtin' as const),
        labels: list(word),
        address: fc.constantFrom('10.0.0.1', 'fd00::1'),
        ports: fc.constant('2000-2010'),
        slurm: fc.record(
          {
            partition: word,
            account: word,
            time: fc.constant('1:00'),
            nodes: count,
            ranksPerNode: count,
            cpusPerNode: count,
            gpusPerNode: count,
            setup: list(word),
            // None is the beginning of a name that is refused, such as --wait.
            options: list(word.map((name) => `--qos=${name}`)),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['name', 'destination'] },
    )
    .map((raw) => parseNodeEntry(raw));

  test('is the one that the values were taken of', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        expect(parseNodeEntry(entryFrom(valuesOf(entry), entry))).toEqual(entry);
      }),
    );
  });

  test('takes user and port from their fields first, then from the host', () => {
    const fields = { name: 'a', host: 'you@box:23', user: 'me' };
    expect(entryFrom({ fields, slurm: false })).toMatchObject({
      destination: 'me@box:23',
    });
    const six = { name: 'a', host: '[::1]', port: '22' };
    expect(entryFrom({ fields: six, slurm: false })).toMatchObject({
      destination: '[::1]:22',
    });
  });

  test('no two fields have one key, and no two options one flag', () => {
    for (const of of ['key', 'flags', 'title'] as const) {
      expect(new Set(NODE_FIELDS.map((field) => field[of])).size).toBe(
        NODE_FIELDS.length,
      );
    }
  });
});
