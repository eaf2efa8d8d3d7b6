/**
 * An emulated network card: all that a rank sends passes one line, all that it receives
 * another, each at the network's bandwidth, with the latency in between.
 *
 *     sender     lanes ──in turns──► line out ──► socket, some ms ahead of time
 *     receiver   socket ──► held until it left its sender + latency ──► line in ──► rank
 *
 * Segments say when they leave, on the clock of their machine, and the receiver waits for that
 * moment (`peer-clock.ts` converts it from another machine's clock). So the sender hands them over
 * some milliseconds early, as to a socket's buffer: its thread may compute or sleep meanwhile. The
 * lines store moments, not bytes: there is no burst, and a late report does not delay a
 * transmission.
 *
 * Cost: two copies of every byte, and a turn of the event loop for a segment or two.
 */
import { MOST_ON_ITS_WAY_BYTES } from '../../shared/spec/emulated-links.ts';
import type { EmulatedLink } from '../../shared/machines/emulated-network.ts';
import { Lane, type LaneCard, type Wire } from './lane.ts';
import { SegmentMemory } from './segment-memory.ts';
import { LineIn } from './line-in.ts';
import type { PeerClock } from './peer-clock.ts';
import { MOST_SEGMENT_BYTES } from './segment.ts';
import { SerialLine } from './serial-line.ts';

/** Time before its due moment at which a segment is written to the socket. */
const AHEAD_MS = 5;
/**
 * Waiting data may use the time during which its thread was busy, up to what a socket's
 * buffer would have held.
 */
const SOCKET_BYTES = 4 * 2 ** 20;
const MOST_CATCH_UP_MS = 50;
/**
 * Lanes take turns after this much of the line's time, in segments of whole packets: a part of one
 * would have a header as long as a packet's.
 */
const SEGMENT_MS = 0.5;
const PACKET_BYTES = 1448;
/** Bytes to hold in addition to what is in transit within AHEAD_MS and the latency. */
const HOLD_BYTES = 256 * 2 ** 10;
/** The most that is written ahead; links that fast are not emulated at their speed anyway. */
const MOST_AHEAD_BYTES = 64 * 2 ** 20;
/** Bytes delivered at once; then the event loop gets a turn. */
const TURN_BYTES = 256 * 2 ** 10;

export interface CardTimer {
  /** Milliseconds on the clock that all processes of this machine share. */
  now(): number;
  /**
   * Call the card at the first of two moments, either of which may be Infinity; replaces
   * what was set before.
   * @param due to the fraction of a millisecond
   * @param refill to the millisecond
   */
  set(due: number, refill: number): void;
}

export class EmulatedCard implements LaneCard {
  readonly memory: SegmentMemory;
  readonly holdBytes: number;
  readonly #latencyMs: number;
  readonly #catchUpMs: number;
  readonly #out: SerialLine;
  readonly #in: LineIn;
  readonly #timer: CardTimer;
  readonly #lanes: Lane[] = [];
  /** Index of the lane at which the search for the next one begins. */
  #turn = 0;
  /** The moment from which the line may carry new data. */
  #start = 0;
  #refilling = false;
  /** The lane whose first segment is passing the incoming line, and until when. */
  #serving: { readonly lane: Lane; readonly until: number } | undefined;

  /** @param timer gives the card its turns */
  constructor(
    { bandwidth, latency }: EmulatedLink,
    timer: (turn: () => void) => CardTimer,
  ) {
    this.#out = new SerialLine(bandwidth);
    this.#latencyMs = latency;
    const bytesPerMs = bandwidth / 8000;
    this.#catchUpMs = Math.min(MOST_CATCH_UP_MS, SOCKET_BYTES / bytesPerMs);
    const turn = Math.min(MOST_SEGMENT_BYTES, SEGMENT_MS * bytesPerMs);
    const packets = Math.max(1, Math.floor(turn / PACKET_BYTES));
    this.memory = new SegmentMemory(packets * PACKET_BYTES);
    this.#in = new LineIn(new SerialLine(bandwidth), this.memory.segmentBytes);
    // All that is on its way must fit, or a lane would stop before the link is full: `checkLinks`
    // refuses more.
    const onItsWay = Math.min(MOST_ON_ITS_WAY_BYTES, this.#latencyMs * bytesPerMs);
    const ahead = Math.min(MOST_AHEAD_BYTES, 2 * AHEAD_MS * bytesPerMs);
    this.holdBytes = HOLD_BYTES + ahead + onItsWay;
    this.#timer = timer(() => {
      this.turn();
    });
  }

  /** @param clock clock of the peer's machine; default: this machine's */
  connect(wire: Wire, clock?: PeerClock): Lane {
    const lane = new Lane(this, wire, clock);
    this.#lanes.push(lane);
    return lane;
  }

  now(): number {
    return this.#timer.now();
  }

  transmit(bytes: number): number {
    if (!this.#refilling) this.#start = this.#timer.now();
    return this.#out.occupy(this.#start, this.#out.duration(bytes));
  }

  hasRoom(): boolean {
    // By turns: one chunk each.
    if (this.#refilling || this.#lanes.some((lane) => lane.wanting)) return false;
    return this.#out.free < this.#timer.now() + AHEAD_MS;
  }

  wants(): void {
    if (!this.#refilling) this.#schedule();
  }

  came(): void {
    this.#schedule();
  }

  cleared(lane: Lane): void {
    if (this.#serving?.lane === lane) this.#serving = undefined;
  }

  /** Delivers what is due, and refills lanes that have more to send. */
  turn(): void {
    this.#receive(this.#timer.now());
    this.#refill(this.#timer.now());
    this.#schedule();
  }

  #refill(now: number): void {
    this.#refilling = true;
    // They would have used the line while this thread was busy.
    this.#start = now - this.#catchUpMs;
    while (this.#out.free < now + AHEAD_MS) {
      const lane = this.#nextWanting();
      if (lane === undefined) break;
      lane.refill();
    }
    this.#refilling = false;
  }

  #receive(now: number): void {
    let bytes = 0;
    while (bytes < TURN_BYTES && this.#nextDue() <= now) {
      const served = this.#serving?.lane;
      this.#serving = undefined;
      if (served !== undefined) bytes += served.deliver();
      else this.#serve(this.#earliest()!);
    }
  }

  /** Serves a lane whose first segment has arrived; while others pass the line it waits. */
  #serve(lane: Lane): void {
    const { leftAt, bytes } = lane.first!;
    this.#serving = { lane, until: this.#in.pass(leftAt + this.#latencyMs, bytes) };
  }

  /** When received segments need attention; Infinity: there are none. */
  #nextDue(): number {
    if (this.#serving !== undefined) return this.#serving.until;
    const first = this.#earliest()?.first;
    return first === undefined ? Infinity : first.leftAt + this.#latencyMs;
  }

  /** The lane whose first segment left its sender first. */
  #earliest(): Lane | undefined {
    let earliest: Lane | undefined;
    for (const lane of this.#lanes) {
      if (lane.first === undefined) continue;
      const before = earliest?.first?.leftAt ?? Infinity;
      if (lane.first.leftAt < before) earliest = lane;
    }
    return earliest;
  }

  /** The next lane in turn that has more to send. */
  #nextWanting(): Lane | undefined {
    const lanes = this.#lanes;
    for (let step = 0; step < lanes.length; step++) {
      const index = (this.#turn + step) % lanes.length;
      if (!lanes[index]!.wanting) continue;
      this.#turn = index + 1;
      return lanes[index];
    }
    return undefined;
  }

  #schedule(): void {
    const wanting = this.#lanes.some((lane) => lane.wanting);
    const refill = wanting ? this.#out.free - AHEAD_MS / 2 : Infinity;
    this.#timer.set(this.#nextDue(), refill);
  }
}
