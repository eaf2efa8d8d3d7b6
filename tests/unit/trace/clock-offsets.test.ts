/** Clocks that are known to be wrong by so much, and messages between them. */
import { describe, expect, test } from 'vitest';
import {
  clockOffsets,
  type TimedMessage,
} from '../../../src/shared/trace/clock-offsets.ts';
import { generator } from '../../integration/collectives/run-collective.ts';

/** Messages as ranks with these clocks note them, each delayed by `delay`. */
function messagesOf(
  clocks: readonly number[],
  pairs: readonly (readonly [number, number])[],
  { count, delay }: { readonly count: number; readonly delay: () => number },
): readonly TimedMessage[] {
  return pairs.flatMap(([from, to]) =>
    Array.from({ length: count }, (_, i) => {
      const at = 1e6 * i + 17 * from;
      return {
        from,
        to,
        sent: at + clocks[from]!,
        received: at + delay() + clocks[to]!,
      };
    }),
  );
}

const everyone = (ranks: number): (readonly [number, number])[] =>
  Array.from(
    { length: ranks * ranks },
    (_, i) => [i % ranks, Math.floor(i / ranks)] as const,
  ).filter(([a, b]) => a !== b);

describe.each([2, 3, 7])('clocks of %i ranks', (ranks) => {
  const random = generator(ranks);
  const clocks = Array.from({ length: ranks }, () =>
    Math.round(1e9 * (random() - 0.5)),
  );
  const own = Array.from({ length: ranks }, (_, rank) => rank);
  const truth = own.map((rank) => clocks[rank]! - clocks[0]!);

  test('are found within the uncertainty, and no message goes back in time', () => {
    const delay = (): number => Math.round(5e4 + 2e5 * random());
    const messages = messagesOf(clocks, everyone(ranks), { count: 20, delay });
    const offsets = clockOffsets(own, messages);
    for (const rank of own) {
      const { offset, uncertainty } = offsets.get(rank)!;
      expect(Math.abs(offset - truth[rank]!)).toBeLessThanOrEqual(uncertainty + 1);
      // A message takes 50 µs at least, so the bounds are 100 µs apart at least.
      expect(uncertainty).toBeLessThan(2e5);
      if (rank > 0) expect(uncertainty).toBeGreaterThanOrEqual(49_999);
    }
    for (const { from, received, sent, to } of messages) {
      const taken =
        received - offsets.get(to)!.offset - (sent - offsets.get(from)!.offset);
      expect(taken).toBeGreaterThanOrEqual(-1);
    }
  });

  test('are found by way of other ranks on a ring', () => {
    const ring = own.flatMap((rank) => {
      const next = (rank + 1) % ranks;
      return [[rank, next] as const, [next, rank] as const];
    });
    const messages = messagesOf(clocks, ring, { count: 5, delay: () => 1000 });
    const offsets = clockOffsets(own, messages);
    for (const rank of own) {
      const { offset, uncertainty } = offsets.get(rank)!;
      expect(Math.abs(offset - truth[rank]!)).toBeLessThanOrEqual(uncertainty + 1);
      const hops = Math.min(rank, ranks - rank);
      expect(uncertainty).toBeCloseTo(1000 * hops, 0);
    }
  });
});

test('without messages both ways the uncertainty is said to be unknown', () => {
  const offsets = clockOffsets(
    [0, 1, 2],
    [
      { from: 0, to: 1, sent: 0, received: -500 },
      { from: 0, to: 1, sent: 9, received: 90 },
    ],
  );
  expect(offsets.get(0)).toEqual({ offset: 0, uncertainty: 0 });
  expect(offsets.get(1)).toEqual({ offset: -500, uncertainty: Infinity });
  expect(offsets.get(2)).toEqual({ offset: 0, uncertainty: Infinity });
});

describe('clocks of machines', () => {
  // Rank 1 is late by 20 ms in each sum, which then takes 1 ms.
  const late: readonly TimedMessage[] = [0, 1, 2].flatMap((step) => [
    { from: 0, to: 1, sent: 50e6 * step, received: 50e6 * step + 21e6 },
    { from: 1, to: 0, sent: 50e6 * step + 20e6, received: 50e6 * step + 21e6 },
  ]);

  test('are one where they have the same name, whatever the messages say', () => {
    const names = new Map([0, 1, 2].map((rank) => [rank, 'boot']));
    const backwards = { from: 1, to: 2, sent: 1000, received: 900 };
    const offsets = clockOffsets([0, 1, 2], [...late, backwards], names);
    for (const one of offsets.values())
      expect(one).toEqual({ offset: 0, uncertainty: 0 });
  });

  test('are taken to be equal as far as the messages allow', () => {
    const names = new Map([
      [0, 'a'],
      [1, 'b'],
    ]);
    expect(clockOffsets([0, 1], late, names).get(1)).toEqual({
      offset: 0,
      uncertainty: 21e6,
    });
    // A clock that is 30 ms ahead: by less, a message would arrive before it was sent.
    const ahead = late.map((one) =>
      one.from === 0
        ? { ...one, received: one.received + 30e6 }
        : { ...one, sent: one.sent + 30e6 },
    );
    expect(clockOffsets([0, 1], ahead, names).get(1)).toEqual({
      offset: 29e6,
      uncertainty: 22e6,
    });
  });
});
