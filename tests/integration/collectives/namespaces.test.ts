/**
 * Ranks that share no loopback: each in a network namespace, joined by a bridge. Needs
 * Linux, root and iproute2; skipped elsewhere, with the reason in its name.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { RankNamespaces, namespacesMissing } from '../../harness/namespaces.ts';
import { collectiveCases } from './collective-cases.ts';
import { LivelyWorld, type LivelyOptions } from './lively-world.ts';
import { integers, sumOf } from './run-collective.ts';

const RANKS = 4;
const missing = namespacesMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

describe.skipIf(missing !== undefined)(`in namespaces of their own${because}`, () => {
  let namespaces: RankNamespaces;
  let world: LivelyWorld;
  beforeAll(() => {
    namespaces = new RankNamespaces({ ranks: RANKS });
    world = new LivelyWorld(
      namespaces.hosts.map((host, rank) => ({ host, prefix: namespaces.prefix(rank) })),
    );
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    namespaces[Symbol.dispose]();
  });

  const carriers: readonly [string, LivelyOptions][] = [
    ['tcp', { transport: 'tcp' }],
    ['native, encrypted', { transport: 'native', encrypt: true }],
    ['native', { transport: 'native' }],
  ];
  test.each(effort({ quick: carriers.slice(0, 2), soak: carriers }))(
    '%s: every collective gives four ranks the sum',
    async (_, options) => {
      await world.join(options);
      const length = 5003;
      for (const [collective, { kind }] of Object.entries(collectiveCases)) {
        const inputs = Array.from({ length: RANKS }, (__, rank) =>
          integers(rank, length, kind === 'sparse' ? 0.05 : 1),
        );
        const sum = [...sumOf(inputs)];
        const reports = await world.all(() => ({ do: 'reduce', collective, length }));
        for (const report of reports) expect(report).toEqual({ did: 'reduce', sum });
      }
      await world.leave();
    },
  );

  test.each(effort({ quick: ['native'], soak: ['tcp', 'native'] } as const))(
    '%s: a link that is cut is named by the limit on silence, by the rank behind it too',
    async (transport) => {
      await world.join({ transport });
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
      namespaces.mend(2);
      await world.leave();
    },
  );
});
