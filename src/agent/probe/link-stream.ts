/**
 * Measures α and β of one link between two ranks, in a second or two at any speed. α is
 * half a round trip of 8 bytes. β comes from a stream in one direction, long enough to
 * exceed the burst of a shaper or a switch: round trips would leave either direction idle
 * half of the time, and a link that saves up unused bandwidth would look twice as fast.
 *
 *     rank 0 ── order ──► rank 1        pings: 8 bytes there and back
 *                                       there: ready ◄──, messages ──►, thanks ◄──
 *                                       back:  messages ◄──
 */
import { median } from '../../shared/numbers/quantile.ts';
import type { LinkTiming } from '../../shared/cost-model/link-timing.ts';
import type { Arena } from '../memory/arena.ts';
import type { MessageHeader, Transport } from '../transport/transport.ts';

const ORDERS = { end: 0, pings: 1, there: 2, back: 3 } as const;
type Order = keyof typeof ORDERS;

const ORDER_BYTES = 12;
const PING_BYTES = 8;
/** The longest message of a stream. */
const MESSAGE_BYTES = 2 ** 20;
const FIRST_BYTES = 2 ** 16;
const MOST_BYTES = 2 ** 28;
/** The target time of a stream, and the minimum. */
const TARGET_SECONDS = 0.25;
const ENOUGH_SECONDS = 0.15;
const MOST_GROWTH = 8;
const STREAMS = 3;
/** Repetitions of each; the first are discarded, until the message path is compiled. */
const PING_SECONDS = 0.15;
const FEWEST_PINGS = 5;
const MOST_PINGS = 2000;

/** Times a link; called on both ranks, rank 0 gets the result. */
export async function timeLink(
  transport: Transport,
  arena: Arena,
): Promise<LinkTiming | undefined> {
  const line = new LinkLine(transport, arena);
  if (transport.rank !== 0) {
    await line.serve();
    return undefined;
  }
  const alpha = await line.latency();
  const there = await line.byteSeconds('there', alpha);
  const back = await line.byteSeconds('back', alpha);
  await line.order('end', 0, 0);
  return { alpha, there, back };
}

class LinkLine {
  readonly #transport: Transport;
  readonly #peer: number;
  readonly #small: Uint8Array;
  readonly #out: Uint8Array;
  readonly #into: Uint8Array;

  constructor(transport: Transport, arena: Arena) {
    this.#transport = transport;
    this.#peer = 1 - transport.rank;
    const take = (bytes: number): Uint8Array =>
      arena.u8(arena.allocate(bytes).offset, bytes);
    this.#small = take(PING_BYTES);
    this.#out = take(MESSAGE_BYTES);
    this.#into = take(MESSAGE_BYTES);
  }

  async order(order: Order, count: number, bytes: number): Promise<void> {
    await this.#send(Buffer.from(Uint32Array.of(ORDERS[order], count, bytes).buffer));
  }

  /** Rank 1 follows orders until the order to end. */
  async serve(): Promise<void> {
    for (;;) {
      const text = Buffer.alloc(ORDER_BYTES);
      await this.#receive(text);
      const [order, count, bytes] = [0, 4, 8].map((at) => text.readUInt32LE(at));
      switch (order) {
        case ORDERS.pings:
          for (let ping = 0; ping < count!; ping++) {
            await this.#receive(this.#small);
            await this.#send(this.#small);
          }
          break;
        case ORDERS.there: {
          const arrivals = this.#receiveAll(count!, bytes!);
          await this.#send(this.#small);
          await arrivals;
          await this.#send(this.#small);
          break;
        }
        case ORDERS.back:
          await this.#sendAll(count!, bytes!);
          break;
        default:
          return;
      }
    }
  }

  /** Half the median of many round trips. */
  async latency(): Promise<number> {
    await this.#pings(FEWEST_PINGS);
    const first = median(await this.#pings(FEWEST_PINGS))!;
    const count = Math.min(
      MOST_PINGS,
      Math.max(FEWEST_PINGS, Math.floor(PING_SECONDS / first)),
    );
    await this.#pings(count);
    return median(await this.#pings(count))! / 2;
  }

  async byteSeconds(direction: 'there' | 'back', alpha: number): Promise<number> {
    let bytes = FIRST_BYTES;
    let seconds = await this.#stream(direction, bytes);
    while (seconds < ENOUGH_SECONDS && bytes < MOST_BYTES) {
      const growth = Math.min(MOST_GROWTH, Math.max(2, TARGET_SECONDS / seconds));
      bytes = Math.min(
        MOST_BYTES,
        Math.ceil((bytes * growth) / FIRST_BYTES) * FIRST_BYTES,
      );
      seconds = await this.#stream(direction, bytes);
    }
    const times = [seconds];
    while (times.length < STREAMS) times.push(await this.#stream(direction, bytes));
    // Besides the stream, one message precedes its first byte or follows its last.
    return Math.max(0, median(times)! - 2 * alpha) / bytes;
  }

  async #pings(count: number): Promise<readonly number[]> {
    await this.order('pings', count, PING_BYTES);
    const seconds: number[] = [];
    for (let ping = 0; ping < count; ping++) {
      const start = performance.now();
      await this.#send(this.#small);
      await this.#receive(this.#small);
      seconds.push((performance.now() - start) / 1000);
    }
    return seconds;
  }

  /** Seconds until the whole stream has arrived. */
  async #stream(direction: 'there' | 'back', total: number): Promise<number> {
    const bytes = Math.min(total, MESSAGE_BYTES);
    const count = Math.ceil(total / bytes);
    if (direction === 'there') {
      await this.order('there', count, bytes);
      await this.#receive(this.#small);
      const start = performance.now();
      const thanks = this.#receive(this.#small);
      await this.#sendAll(count, bytes);
      await thanks;
      return ((performance.now() - start) / 1000) * (total / (count * bytes));
    }
    const arrivals = this.#receiveAll(count, bytes);
    const start = performance.now();
    await this.order('back', count, bytes);
    await arrivals;
    return ((performance.now() - start) / 1000) * (total / (count * bytes));
  }

  async #sendAll(count: number, bytes: number): Promise<void> {
    const data = this.#out.subarray(0, bytes);
    await Promise.all(Array.from({ length: count }, () => this.#send(data)));
  }

  async #receiveAll(count: number, bytes: number): Promise<void> {
    const data = this.#into.subarray(0, bytes);
    await Promise.all(Array.from({ length: count }, () => this.#receive(data)));
  }

  #send(data: Uint8Array): Promise<void> {
    return this.#transport.send(this.#peer, HEADER, data);
  }

  #receive(into: Uint8Array): Promise<void> {
    return this.#transport.receive(this.#peer, HEADER, into);
  }
}

const HEADER: MessageHeader = {
  stream: 0,
  sequence: 0,
  epoch: 0,
  operation: 0,
  dtype: 0,
};
