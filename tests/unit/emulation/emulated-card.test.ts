/**
 * Emulated cards on a clock of the test's: when messages arrive, against an oracle that
 * knows no queues and no segments but passes every byte over its lines, one by one.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EmulatedCard,
  type CardTimer,
} from '../../../src/agent/emulation/emulated-card.ts';
import type { Lane } from '../../../src/agent/emulation/lane.ts';
import type { EmulatedNetwork } from '../../../src/shared/emulated-network.ts';
import { runs } from '../../harness/effort.ts';

/** The time of all cards; it moves from one appointment to the next. */
class Appointments {
  now = 1000;
  readonly #turns: { at: number; readonly turn: () => void }[] = [];

  timer(turn: () => void): CardTimer {
    const appointment = { at: Infinity, turn };
    this.#turns.push(appointment);
    return {
      now: () => this.now,
      set: (due, refill) => {
        appointment.at = Math.max(this.now, Math.min(due, refill));
      },
    };
  }

  /** Until nobody has anything to do before that moment, which it then is. */
  runUntil(end: number): void {
    for (;;) {
      const next = this.#turns.toSorted((a, b) => a.at - b.at)[0]!;
      if (next.at === Infinity || next.at > end) break;
      this.now = Math.max(this.now, next.at);
      next.at = Infinity;
      next.turn();
    }
    if (end < Infinity) this.now = end;
  }
}

interface Sent {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

interface Delivery extends Sent {
  /** When its last byte was delivered, ms after the first was sent. */
  readonly at: number;
}

/** All ranks in one place: what one puts the other has read at once. */
class Cards {
  readonly clock = new Appointments();
  readonly deliveries: Delivery[] = [];
  readonly #lanes = new Map<string, Lane>();
  readonly #expected = new Map<string, { sent: Sent; missing: number }[]>();
  readonly #begun = this.clock.now;
  full = 0;

  constructor(network: EmulatedNetwork, ranks: number) {
    const cards = Array.from(
      { length: ranks },
      () => new EmulatedCard(network, (turn) => this.clock.timer(turn)),
    );
    for (const [rank, card] of cards.entries()) {
      for (const peer of cards.keys()) {
        if (peer === rank) continue;
        const lane = card.connect({
          put: (segment, taken) => {
            this.#lane(peer, rank).reader.push(segment);
            taken();
            return true;
          },
          deliver: (bytes) => {
            this.#arrived(`${peer} to ${rank}`, bytes.length);
          },
          setFull: () => {
            this.full++;
          },
        });
        this.#lanes.set(`${rank} to ${peer}`, lane);
      }
    }
  }

  /** The bytes in chunks, each when the lane has room for it. */
  send(sent: Sent): void {
    const lane = this.#lane(sent.from, sent.to);
    const key = `${sent.from} to ${sent.to}`;
    const expected = this.#expected.get(key) ?? [];
    this.#expected.set(key, expected);
    expected.push({ sent, missing: sent.bytes });
    let left = sent.bytes;
    const put = (): void => {
      let room = true;
      while (left > 0 && room) {
        const bytes = Math.min(left, lane.chunkBytes);
        left -= bytes;
        room = lane.put([Buffer.alloc(bytes)]);
      }
    };
    lane.onRefill(put);
    put();
  }

  arrivalOf(sent: Sent): number {
    return this.deliveries.find((one) => one.from === sent.from && one.to === sent.to)!
      .at;
  }

  #lane(from: number, to: number): Lane {
    return this.#lanes.get(`${from} to ${to}`)!;
  }

  #arrived(key: string, bytes: number): void {
    const [first] = this.#expected.get(key)!;
    first!.missing -= bytes;
    if (first!.missing > 0) return;
    this.#expected.get(key)!.shift();
    this.deliveries.push({ ...first!.sent, at: this.clock.now - this.#begun });
  }
}

/** Bytes on a cable of Ethernet for a message, written down anew. */
function onCable(bytes: number): number {
  let cable = 0;
  for (let left = bytes; left > 0; left -= 1448) cable += Math.min(left, 1448) + 90;
  return cable;
}

const GIGABIT = { bandwidth: 1e9, latency: 0.05 };
/** ms of so many bytes on a cable of 1 Gbit/s. */
const cableMs = (bytes: number): number => (onCable(bytes) * 8) / 1e6;

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
