/**
 * An emulated network between ranks whose clocks differ, as those of two machines do: each in
 * a time namespace of its own. Needs Linux, root and util-linux's `unshare`; skipped
 * elsewhere, with the reason in its name.
 */
import { expect, test } from 'vitest';
import { clockAhead, clocksMissing } from '../../harness/clocks.ts';
import { LivelyWorld } from './lively-world.ts';
import { integers, sumOf } from './run-collective.ts';

const SECONDS = 100_000;
const why = clocksMissing();
const because = why === undefined ? '' : ` (skipped: ${why})`;

test.skipIf(why !== undefined)(
  `clocks a day apart: bytes come whole, no sooner than is emulated, and not a day later${because}`,
  async () => {
    const host = '127.0.0.1';
    await using world = new LivelyWorld([
      { host, prefix: [] },
      { host, prefix: clockAhead(SECONDS) },
    ]);
    const times = await world.all(() => ({ do: 'tell the time' }));
    const [here, there] = times.map((told) =>
      told.did === 'tell the time' ? told.ms : Number.NaN,
    );
    expect(there! - here!).toBeGreaterThan(SECONDS * 1000 * 0.99);

    const link = { bandwidth: 1e9, latency: 0 };
    const slow = { bandwidth: 50e6, latency: 20 };
    const network = { ...link, pairs: [{ between: ['a', 'b'] as const, ...slow }] };
    for (const transport of ['tcp', 'native'] as const) {
      const encrypt = transport === 'native';
      await world.join({ transport, encrypt, network, nodes: ['a', 'b'] });
      const [bytes, rounds] = [25_000, 3];
      const reports = await world.all(() => ({ do: 'volley', bytes, times: rounds }));
      const each = slow.latency + (8000 * bytes) / slow.bandwidth;
      for (const [rank, report] of reports.entries()) {
        expect(report).toMatchObject({ did: 'volley', intact: true });
        // The second may have begun when the first message was there; its last it only sends.
        const messages = rank === 0 ? 2 * rounds : 2 * rounds - 2;
        const { ms } = report as { ms: number };
        expect(ms).toBeGreaterThan(messages * each);
      }
      const length = 5003;
      const sum = [...sumOf([0, 1].map((rank) => integers(rank, length, 1)))];
      for (const report of await world.all(() => ({
        do: 'reduce',
        collective: 'ring',
        length,
      }))) {
        expect(report).toEqual({ did: 'reduce', sum });
      }
      await world.leave();
    }
  },
);
