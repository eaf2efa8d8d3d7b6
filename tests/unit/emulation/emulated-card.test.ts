/**
 * Emulated cards on a clock of the test's: when messages arrive, against an oracle that
 * knows no queues and no segments but passes every byte over its lines, one by one.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secondsPerByte } from '../../../src/shared/machines/emulated-network.ts';
import { runs } from '../../harness/effort.ts';
import {
  Cards,
  cableMs,
  GIGABIT,
  onCable,
  type CardsOptions,
  type Sent,
} from './cards.ts';

describe('messages over emulated cards', () => {
  test.each([1, 40, 1448, 1449, 10_000, 65_536, 1_000_000])(
    'of %i bytes take their bytes on the cable and the latency',
    (bytes) => {
      const cards = new Cards(GIGABIT, 2);
      cards.send({ from: 0, to: 1, bytes });
      cards.clock.runUntil(Infinity);
      const expected = cableMs(bytes) + GIGABIT.latency;
      // The last packet of a segment is shorter: at most one more header in 64 kB.
      expect(cards.deliveries[0]!.at).toBeGreaterThanOrEqual(expected - 1e-6);
      expect(cards.deliveries[0]!.at).toBeLessThan(expected * 1.0015 + 1e-6);
    },
  );

  test.each([1e5, 1e6, 2e7, 2.4e7, 3.3e7, 4.5e7, 5e7, 1e8, 1e9, 2.5e10])(
    'at %d bit/s take as long as is said of that bandwidth',
    (bandwidth) => {
      const link = { bandwidth, latency: 0 };
      const cards = new Cards(link, 2);
      const bytes = 1_000_000;
      cards.send({ from: 0, to: 1, bytes });
      cards.clock.runUntil(Infinity);
      const said = 1000 * secondsPerByte(link) * bytes;
      expect(cards.deliveries[0]!.at / said).toBeGreaterThan(0.995);
      expect(cards.deliveries[0]!.at / said).toBeLessThan(1.005);
    },
  );

  test('from one rank to all share its line out', () => {
    const cards = new Cards(GIGABIT, 4);
    const messages = [1, 2, 3].map((to) => ({ from: 0, to, bytes: 3_000_000 }));
    for (const message of messages) cards.send(message);
    cards.clock.runUntil(Infinity);
    const times = messages.map((message) => cards.arrivalOf(message));
    const all = 3 * cableMs(3_000_000) + GIGABIT.latency;
    expect(Math.max(...times) / all).toBeCloseTo(1, 2);
    // The first has the line alone until it is ahead; from then on they take turns of half
    // a millisecond, so the others end a turn apart.
    expect(Math.min(...times)).toBeGreaterThan(0.8 * all);
    expect(times[2]! - times[1]!).toBeLessThan(1.1 * cableMs(62_500));
  });

  test('from all to one rank share its line in', () => {
    const cards = new Cards(GIGABIT, 4);
    const messages = [1, 2, 3].map((from) => ({ from, to: 0, bytes: 600_000 }));
    for (const message of messages) cards.send(message);
    cards.clock.runUntil(Infinity);
    const times = messages.map((message) => cards.arrivalOf(message));
    const all = 3 * cableMs(600_000) + GIGABIT.latency;
    expect(Math.max(...times) / all).toBeCloseTo(1, 2);
    expect(Math.min(...times)).toBeGreaterThan(0.9 * all);
  });

  test('both ways at once do not disturb one another', () => {
    const cards = new Cards(GIGABIT, 2);
    cards.send({ from: 0, to: 1, bytes: 500_000 });
    cards.send({ from: 1, to: 0, bytes: 500_000 });
    cards.clock.runUntil(Infinity);
    for (const { at } of cards.deliveries) {
      expect(at / (cableMs(500_000) + GIGABIT.latency)).toBeCloseTo(1, 2);
    }
  });

  test('a small message to another rank does not wait for all of a large one', () => {
    const cards = new Cards(GIGABIT, 3);
    cards.send({ from: 0, to: 1, bytes: 10_000_000 });
    cards.clock.runUntil(1010);
    cards.send({ from: 0, to: 2, bytes: 100 });
    cards.clock.runUntil(Infinity);
    expect(cards.arrivalOf({ from: 0, to: 2, bytes: 100 })).toBeLessThan(10 + 6);
  });

  test('what a sleeping sender was to send has had the line meanwhile', () => {
    const cards = new Cards(GIGABIT, 2);
    cards.send({ from: 0, to: 1, bytes: 2_000_000 });
    // Nobody has a turn for 10 ms.
    cards.clock.now += 10;
    cards.clock.runUntil(Infinity);
    const expected = cableMs(2_000_000) + GIGABIT.latency;
    expect(cards.deliveries[0]!.at / expected).toBeCloseTo(1, 2);
  });

  test('a line that was idle saves nothing up: there is no burst', () => {
    const cards = new Cards(GIGABIT, 2);
    cards.clock.runUntil(2000);
    cards.send({ from: 0, to: 1, bytes: 100_000 });
    cards.clock.runUntil(Infinity);
    const expected = cableMs(100_000) + GIGABIT.latency;
    expect(cards.deliveries[0]!.at - 1000).toBeGreaterThanOrEqual(expected - 1e-6);
  });

  test('what is not due is bounded: a lane that holds too much reads no further', () => {
    const cards = new Cards({ bandwidth: 1e9, latency: 0 }, 9);
    for (let from = 1; from < 9; from++) cards.send({ from, to: 0, bytes: 5_000_000 });
    cards.clock.runUntil(1100);
    expect(cards.full).toBeGreaterThan(0);
  });
});

describe('between machines', () => {
  const messages = [
    { from: 0, to: 2, bytes: 700_000 },
    { from: 1, to: 2, bytes: 200_000 },
    { from: 2, to: 0, bytes: 30_000 },
  ];
  const nodes = ['a', 'a', 'b'];
  const arrivals = (options: CardsOptions): readonly number[] => {
    const cards = new Cards(GIGABIT, 3, { nodes, ...options });
    for (const message of messages) cards.send(message);
    cards.clock.runUntil(Infinity);
    return messages.map((message) => cards.arrivalOf(message));
  };

  test.each([1e8, -1e8])('a clock that is %d ms ahead changes nothing', (ahead) => {
    const seen = arrivals({ ahead: [0, 0, ahead] });
    for (const [index, at] of arrivals({}).entries()) {
      expect(Math.abs(seen[index]! - at)).toBeLessThan(1e-4);
    }
  });

  test('the network beneath takes its time on top', () => {
    const seen = arrivals({ ahead: [0, 0, 12_345], transit: 0.3 });
    for (const [index, at] of arrivals({}).entries()) {
      expect(seen[index]! - at).toBeGreaterThanOrEqual(0.3 - 1e-4);
      expect(seen[index]! - at).toBeLessThan(0.3 + 0.01);
    }
  });
});

describe('a pair of nodes', () => {
  const slow = { bandwidth: 1e8, latency: 1 };
  const link = (between: [string, string]) => ({
    ...GIGABIT,
    pairs: [{ between, ...slow }],
  });
  const nodes = ['a', 'a', 'b', 'c'];
  const bytes = 100_000;
  const slowly = 10 * cableMs(bytes) + slow.latency;
  const quickly = cableMs(bytes) + GIGABIT.latency;

  test.each<[[string, string], readonly [number, number, number][]]>([
    [
      ['b', 'a'],
      [
        [0, 2, slowly],
        [2, 1, slowly],
        [0, 1, quickly],
        [1, 3, quickly],
      ],
    ],
    [
      ['a', 'a'],
      [
        [0, 1, slowly],
        [0, 2, quickly],
        [2, 3, quickly],
      ],
    ],
  ])('%j has a link of its own, beside the one of all others', (between, expected) => {
    const cards = new Cards(link(between), 4, { nodes });
    const sent = expected.map(([from, to]) => ({ from, to, bytes }));
    for (const message of sent) cards.send(message);
    cards.clock.runUntil(Infinity);
    for (const [index, [, , due]] of expected.entries()) {
      expect(cards.arrivalOf(sent[index]!) / due).toBeCloseTo(1, 1);
      expect(cards.arrivalOf(sent[index]!)).toBeGreaterThan(due - 1e-6);
    }
  });

  test('has one line for a rank and all ranks of the other node', () => {
    const cards = new Cards(link(['a', 'b']), 3, { nodes: ['a', 'b', 'b'] });
    const sent = [1, 2].map((to) => ({ from: 0, to, bytes }));
    for (const message of sent) cards.send(message);
    cards.clock.runUntil(Infinity);
    const last = Math.max(...sent.map((message) => cards.arrivalOf(message)));
    expect(last).toBeGreaterThanOrEqual(20 * cableMs(bytes) + slow.latency - 1e-6);
  });
});

/** The oracle: every byte of the cable has a moment on the line out, then on the line in. */
function lastBytes(messages: readonly Sent[], ranks: number): readonly number[] {
  const perByte = 8 / 1e6;
  const arrivals: { readonly message: number; readonly to: number; at: number }[] = [];
  for (let from = 0; from < ranks; from++) {
    let at = 0;
    for (const [message, sent] of messages.entries()) {
      if (sent.from !== from) continue;
      for (let byte = 0; byte < onCable(sent.bytes); byte++) {
        at += perByte;
        arrivals.push({ message, to: sent.to, at: at + GIGABIT.latency });
      }
    }
  }
  const last = messages.map(() => 0);
  for (let to = 0; to < ranks; to++) {
    const queue = arrivals.filter((byte) => byte.to === to);
    let free = 0;
    for (const byte of queue.sort((a, b) => a.at - b.at)) {
      free = Math.max(free, byte.at - perByte) + perByte;
      last[byte.message] = Math.max(last[byte.message]!, free);
    }
  }
  return last;
}

test('any messages that are sent at once arrive as byte by byte they would', () => {
  const ranks = 4;
  const pairs = Array.from({ length: ranks ** 2 }, (_, pair) => pair).filter(
    (pair) => pair % ranks !== Math.floor(pair / ranks),
  );
  const messages = fc.shuffledSubarray(pairs, { minLength: 1 }).chain((chosen) =>
    fc.tuple(
      ...chosen.map((pair) =>
        fc.integer({ min: 1, max: 20_000 }).map((bytes) => ({
          from: Math.floor(pair / ranks),
          to: pair % ranks,
          bytes,
        })),
      ),
    ),
  );
  fc.assert(
    fc.property(messages, (sent) => {
      const cards = new Cards(GIGABIT, ranks);
      for (const message of sent) cards.send(message);
      cards.clock.runUntil(Infinity);
      const expected = lastBytes(sent, ranks);
      for (const [index, message] of sent.entries()) {
        // Several to one rank pass its line as wholes, not byte by byte: all of those that
        // are on their way may come before the last byte.
        const others = sent.filter((one) => one !== message && one.to === message.to);
        const slack = others.reduce((sum, { bytes }) => sum + cableMs(bytes), 0);
        const at = cards.arrivalOf(message);
        expect(Math.abs(at - expected[index]!)).toBeLessThanOrEqual(slack + 1e-4);
      }
      // But the last of a rank's arrives when its last byte does.
      for (let to = 0; to < ranks; to++) {
        const those = sent.flatMap((one, index) => (one.to === to ? [index] : []));
        if (those.length === 0) continue;
        const seen = Math.max(...those.map((index) => cards.arrivalOf(sent[index]!)));
        const due = Math.max(...those.map((index) => expected[index]!));
        expect(Math.abs(seen - due)).toBeLessThan(1e-4);
      }
    }),
    { numRuns: runs(60) },
  );
});
