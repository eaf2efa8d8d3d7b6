/** Ranks with emulated cards, and a clock of the test's own for all of them. */
import type { CardTimer } from '../../../src/agent/emulation/emulated-card.ts';
import type { Lane } from '../../../src/agent/emulation/lane.ts';
import { RankCards } from '../../../src/agent/emulation/rank-cards.ts';
import type { EmulatedNetwork } from '../../../src/shared/machines/emulated-network.ts';

/** The time of all cards; it moves from one appointment to the next. */
class Appointments {
  now = 1000;
  readonly #turns: { at: number; readonly turn: () => void }[] = [];

  /** @param ahead by how much the clock of a machine is */
  timer(turn: () => void, ahead = 0): CardTimer {
    const appointment = { at: Infinity, turn };
    this.#turns.push(appointment);
    return {
      now: () => this.now + ahead,
      set: (due, refill) => {
        appointment.at = Math.max(this.now, Math.min(due, refill) - ahead);
      },
    };
  }

  /** Once. */
  after(ms: number, act: () => void): void {
    if (ms === 0) act();
    else this.#turns.push({ at: this.now + ms, turn: act });
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

export interface Sent {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

interface Delivery extends Sent {
  /** When its last byte was delivered, ms after the first was sent. */
  readonly at: number;
}

export interface CardsOptions {
  /** By rank; default: all are on one. */
  readonly nodes?: readonly string[];
  /** How far the clock of each rank's machine is ahead, ms; default: not at all. */
  readonly ahead?: readonly number[];
  /** What the network beneath takes, ms; default: nothing. */
  readonly transit?: number;
}

/** All ranks in one place: what one puts the other has read at once, or soon. */
export class Cards {
  readonly clock = new Appointments();
  readonly deliveries: Delivery[] = [];
  readonly #lanes = new Map<string, Lane>();
  readonly #expected = new Map<string, { sent: Sent; missing: number }[]>();
  readonly #begun = this.clock.now;
  full = 0;

  constructor(
    network: EmulatedNetwork,
    ranks: number,
    { nodes, ahead = [], transit = 0 }: CardsOptions = {},
  ) {
    const cards = Array.from({ length: ranks }, (_, rank) => {
      const timer = (turn: () => void): CardTimer =>
        this.clock.timer(turn, ahead[rank]);
      return new RankCards({ network, rank, nodes, timer });
    });
    for (const [rank, card] of cards.entries()) {
      for (const peer of cards.keys()) {
        if (peer === rank) continue;
        const lane = card.to(peer).connect({
          put: (segment, taken) => {
            const bytes = Buffer.from(segment);
            taken();
            this.clock.after(transit, () => {
              this.#lane(peer, rank).reader.push(bytes);
            });
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
export function onCable(bytes: number): number {
  let cable = 0;
  for (let left = bytes; left > 0; left -= 1448) cable += Math.min(left, 1448) + 90;
  return cable;
}

export const GIGABIT = { bandwidth: 1e9, latency: 0.05 };
/** How long these bytes take on a cable of 1 Gbit/s, ms. */
export const cableMs = (bytes: number): number => (onCable(bytes) * 8) / 1e6;
