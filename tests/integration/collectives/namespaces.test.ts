/**
 * Ranks that share no loopback: each in a network namespace, joined by a bridge. Needs
 * Linux, root and iproute2; skipped elsewhere, with the reason in its name.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { RankNamespaces, namespacesMissing } from '../../harness/namespaces.ts';
import { collectiveCases } from './collective-cases.ts';
import { LivelyWorld, type LivelyOptions, type LivelyPlace } from './lively-world.ts';
import { integers, sumOf } from './run-collective.ts';

const RANKS = 4;
const missing = namespacesMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

interface Network extends AsyncDisposable {
  readonly namespaces: RankNamespaces;
  readonly world: LivelyWorld;
}

const open: Network[] = [];
afterEach(async () => {
  for (const network of open.splice(0)) await network[Symbol.asyncDispose]();
});

/** Owned by the test: taken down after it. */
async function network(options: LivelyOptions): Promise<Network> {
  const namespaces = new RankNamespaces({ ranks: RANKS });
  const places = namespaces.hosts.map((host, rank): LivelyPlace => ({
    host,
    prefix: namespaces.prefix(rank),
  }));
  try {
    const world = await LivelyWorld.start(places, options);
    const made: Network = {
      namespaces,
      world,
      [Symbol.asyncDispose]: async () => {
        await world[Symbol.asyncDispose]();
        namespaces[Symbol.dispose]();
      },
    };
    open.push(made);
    return made;
  } catch (error) {
    namespaces[Symbol.dispose]();
    throw error;
  }
}

describe.skipIf(missing !== undefined)(`in namespaces of their own${because}`, () => {
  test.each<[string, LivelyOptions]>([
    ['tcp', { transport: 'tcp' }],
    ['native', { transport: 'native' }],
    ['native, encrypted', { transport: 'native', encrypt: true }],
  ])('%s: every collective gives four ranks the sum', async (_, options) => {
    const { world } = await network(options);
    const length = 5003;
    for (const [collective, { kind }] of Object.entries(collectiveCases)) {
      const inputs = Array.from({ length: RANKS }, (__, rank) =>
        integers(rank, length, kind === 'sparse' ? 0.05 : 1),
      );
      const sum = [...sumOf(inputs)];
      const reports = await world.all(() => ({ do: 'reduce', collective, length }));
      for (const report of reports) expect(report).toEqual({ did: 'reduce', sum });
    }
    const left = await world.all(() => ({ do: 'leave' }));
    expect(left.every(({ did }) => did === 'leave')).toBe(true);
  });

  test.each(['tcp', 'native'] as const)(
    '%s: a link that is cut is named by the limit on silence, by the rank behind it too',
    async (transport) => {
      const { namespaces, world } = await network({ transport });
      const ends = await world.reduceForever();
      namespaces.cut(2);
      const failures = await Promise.all(ends);
      for (const [rank, error] of failures.entries()) {
        expect(error.code).toBe('PEER_SILENT');
        // The others name the rank that is cut off; to it they are.
        if (rank === 2) expect(error.rank).not.toBe(2);
        else expect(error.rank).toBe(2);
        expect(error.message).toMatch(/no sign of life within 3 s$/);
      }
    },
  );
});
