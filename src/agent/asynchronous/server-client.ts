/**
 * A worker's side of asynchronous training: it hands each server its share of what the worker's
 * methods have made of its gradient, and gets weights back. The server on the worker's own rank
 * is called, the others are sent messages.
 */
import type { ElementRange } from '../collectives/partition.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Payload } from '../memory/payload.ts';
import { planBuckets, type FlatTensor } from '../plan/buckets.ts';
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import { shareOf, type BucketShare } from './bucket-share.ts';
import {
  decodeReply,
  encodeOrder,
  REPLY_BYTES,
  type Order,
  type Reply,
} from './orders.ts';
import {
  MEET_STREAM,
  ORDER_STREAM,
  PULL_STREAM,
  REPLY_STREAM,
  SHARE_STREAM,
  type PeerLine,
} from './peer-line.ts';
import type { PushedShare, WeightServer } from './weight-server.ts';

/** A server as a worker sees it. */
export interface ServerSeat {
  /** Of the flat weights: the server's. */
  readonly range: ElementRange;
  /** To the server; undefined where it is on this rank. */
  readonly line: PeerLine | undefined;
}

export interface ServerClientOptions {
  readonly rank: number;
  readonly arena: Arena;
  readonly tensors: readonly FlatTensor[];
  readonly plan: ExchangePlan;
  /** The first decides on fences. */
  readonly seats: readonly ServerSeat[];
  /** The server on this rank, if there is one. */
  readonly own: WeightServer | undefined;
  /** To all other ranks, by rank. */
  readonly lines: readonly (PeerLine | undefined)[];
  /** The flat weights, as they were pulled last. */
  readonly weights: Vector;
}

export interface PullRequest {
  /** The iteration that is to begin. */
  readonly iteration: number;
  /** Whether all meet before it anyhow. */
  readonly meets: boolean;
  /** Whether this rank has something for all to agree on. */
  readonly wantsFence: boolean;
}

export class ServerClient {
  readonly #options: ServerClientOptions;
  /** By bucket, then by server. */
  #shares: readonly (readonly BucketShare[])[];

  constructor(options: ServerClientOptions) {
    this.#options = options;
    this.#shares = this.#sharesOf(options.plan);
  }

  /** Buckets as another plan makes them. */
  replan(plan: ExchangePlan): void {
    this.#shares = this.#sharesOf(plan);
  }

  /**
   * Hands over what became of a bucket; resolves when the payload's memory may be reused.
   * @param lr η, of the iteration
   * @throws the transport's errors
   */
  async push(
    bucket: { readonly index: number; readonly length: number },
    payload: Payload,
    { iteration, lr }: { readonly iteration: number; readonly lr: number },
  ): Promise<void> {
    const { own, rank, seats } = this.#options;
    const sends: Promise<void>[] = [];
    for (const [server, share] of this.#shares[bucket.index]!.entries()) {
      if (share.length === 0) continue;
      const { line } = seats[server]!;
      const part = this.#partOf(payload, bucket.length, share);
      const pushed = { ...part, bucket: bucket.index, iteration, lr };
      if (line === undefined) own!.push(rank, pushed);
      else sends.push(...this.#sendShare(line, pushed));
    }
    await Promise.all(sends);
  }

  /** More of this iteration's gradient: flat, in the arena. */
  async pushLeftover(leftover: Vector, lr: number): Promise<void> {
    const { arena, own, rank, seats } = this.#options;
    const sends = seats.flatMap(({ line, range }) => {
      const part = {
        offset: leftover.offset + 4 * range.start,
        length: range.length,
      };
      if (line === undefined) {
        own!.addLeftover(rank, arena.f32(part), lr);
        return [];
      }
      const values = arena.u8(part.offset, 4 * part.length);
      return [
        this.#order(line, { kind: 'leftover', lr }),
        line.send(SHARE_STREAM, values),
      ];
    });
    await Promise.all(sends);
  }

  /**
   * Ends this rank's pushes of the iteration before, and waits until the next may begin, with
   * weights, or until all meet instead.
   * @throws the transport's errors
   */
  async pull(request: PullRequest): Promise<Reply> {
    const { seats } = this.#options;
    const { meets } = request;
    const replies = await Promise.all(
      seats.map((seat) => this.#pullFrom(seat, request)),
    );
    const version = Math.min(...replies.map((reply) => reply.version));
    // The first server alone knows of fences that nobody has foreseen; it knows whom it told.
    const fence = replies[0]!.fence;
    if (fence && !meets) await this.#tell(seats.slice(1), { kind: 'meet' });
    return { fence, version };
  }

  /**
   * All have met: what the servers have made of every push is everybody's weights.
   * @throws the transport's errors
   */
  async meet(): Promise<void> {
    const { arena, lines, own, seats } = this.#options;
    await own?.closed();
    await Promise.all(
      seats.flatMap(({ line, range }) => {
        const place = this.#placeOf(range);
        if (line !== undefined) {
          return [line.receive(MEET_STREAM, arena.u8(place.offset, 4 * place.length))];
        }
        own!.meet(arena.f32(place));
        const values = arena.u8(place.offset, 4 * place.length);
        return lines.map((to) => to?.send(MEET_STREAM, values));
      }),
    );
  }

  async #pullFrom({ line, range }: ServerSeat, request: PullRequest): Promise<Reply> {
    const { arena, own, rank } = this.#options;
    const { iteration, meets, wantsFence } = request;
    const pushed = iteration - 1;
    const place = this.#placeOf(range);
    const met = { fence: true, version: iteration };
    if (line === undefined) {
      own!.pushed(rank, pushed, wantsFence);
      return meets ? met : await own!.pull(iteration, arena.f32(place));
    }
    const order = { kind: 'pushed', iteration: pushed, wantsFence, meets } as const;
    await this.#order(line, order);
    if (meets) return met;
    const bytes = new Uint8Array(REPLY_BYTES);
    await line.receive(REPLY_STREAM, bytes);
    const reply = decodeReply(bytes);
    if (!reply.fence) {
      await line.receive(PULL_STREAM, arena.u8(place.offset, 4 * place.length));
    }
    return reply;
  }

  #sendShare(line: PeerLine, { data, ...share }: PushedShare): Promise<void>[] {
    const { arena } = this.#options;
    const { bytes } = data[0]!;
    return [
      this.#order(line, { kind: 'share', ...share, bytes }),
      ...data.map((region) =>
        line.send(SHARE_STREAM, arena.u8(region.offset, region.bytes)),
      ),
    ];
  }

  #partOf(
    payload: Payload,
    length: number,
    share: BucketShare,
  ): Pick<PushedShare, 'form' | 'data'> {
    const { data } = payload;
    // Values at indices that all ranks draw alike are dense, and fewer.
    if (payload.length !== length) return { form: 'whole', data: [data] };
    const { offset } = data;
    switch (payload.kind) {
      case 'dense': {
        const part = { offset: offset + 4 * share.start, bytes: 4 * share.length };
        return { form: 'dense', data: [part] };
      }
      case 'sparse': {
        const { count } = payload;
        const indices = this.#options.arena.u32(offset, count);
        const from = firstFrom(indices, share.start);
        const bytes = 4 * (firstFrom(indices, share.start + share.length) - from);
        const values = offset + 4 * count;
        return {
          form: 'sparse',
          data: [
            { offset: offset + 4 * from, bytes },
            { offset: values + 4 * from, bytes },
          ],
        };
      }
      case 'quantized':
      case 'scalars':
        return { form: 'whole', data: [data] };
      default:
        return payload satisfies never;
    }
  }

  #placeOf({ length, start }: ElementRange): Vector {
    return { offset: this.#options.weights.offset + 4 * start, length };
  }

  /** The servers on other ranks. */
  async #tell(seats: readonly ServerSeat[], order: Order): Promise<void> {
    const others = seats.flatMap(({ line }) => (line === undefined ? [] : [line]));
    await Promise.all(others.map((line) => this.#order(line, order)));
  }

  #order(line: PeerLine, order: Order): Promise<void> {
    return line.send(ORDER_STREAM, encodeOrder(order));
  }

  #sharesOf(plan: ExchangePlan): readonly (readonly BucketShare[])[] {
    const { seats, tensors } = this.#options;
    return planBuckets(tensors, plan).map((bucket) =>
      seats.map(({ range }) => shareOf(bucket, range)),
    );
  }
}

/** The first of ascending indices that is not below this one. */
function firstFrom(indices: Uint32Array, least: number): number {
  let low = 0;
  let high = indices.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indices[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
