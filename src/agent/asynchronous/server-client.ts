/**
 * A worker's side of asynchronous training: it sends each server its share of the compressed
 * gradient and gets weights back. The server on the worker's own rank is called directly, the
 * others get messages.
 */
import type { ElementRange } from '../collectives/partition.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Payload } from '../memory/payload.ts';
import { planBuckets, type FlatTensor } from '../plan/buckets.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
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
export interface ServerLink {
  /** The server's range of the flat weights. */
  readonly range: ElementRange;
  /** The line to the server; undefined if it is on this rank. */
  readonly line: PeerLine | undefined;
}

export interface ServerClientOptions {
  readonly rank: number;
  readonly arena: Arena;
  readonly tensors: readonly FlatTensor[];
  readonly plan: ExchangePlan;
  /** Links to the servers, of which the first decides on meetings. */
  readonly serverLinks: readonly ServerLink[];
  /** The server on this rank, if there is one. */
  readonly own: WeightServer | undefined;
  /** Lines to all other ranks, by rank. */
  readonly lines: readonly (PeerLine | undefined)[];
}

/** May this iteration begin? Iterations are asked for in order, each once. */
export interface PullRequest {
  readonly iteration: number;
  /** The destination of its flat weights. */
  readonly into: Vector;
}

/** The end of a push. */
export interface PushEnd {
  readonly iteration: number;
  /** Whether this rank has something for all to agree on. */
  readonly wantsMeeting: boolean;
}

export class ServerClient {
  readonly #options: ServerClientOptions;
  /** Shares by bucket, then by server. */
  #shares: readonly (readonly BucketShare[])[];

  constructor(options: ServerClientOptions) {
    this.#options = options;
    this.#shares = this.#sharesOf(options.plan);
  }

  /** Adopts the buckets of another plan. */
  replan(plan: ExchangePlan): void {
    this.#shares = this.#sharesOf(plan);
  }

  /**
   * Sends a bucket's payload; resolves when its memory may be reused.
   * @param lr η, of the iteration
   * @throws the transport's errors
   */
  async push(
    bucket: { readonly index: number; readonly length: number },
    payload: Payload,
    { iteration, lr }: { readonly iteration: number; readonly lr: number },
  ): Promise<void> {
    const { own, rank, serverLinks } = this.#options;
    const sends: Promise<void>[] = [];
    for (const [server, share] of this.#shares[bucket.index]!.entries()) {
      if (share.length === 0) continue;
      const { line } = serverLinks[server]!;
      const part = this.#partOf(payload, bucket.length, share);
      const pushed = { ...part, bucket: bucket.index, iteration, lr };
      if (line === undefined) own!.push(rank, pushed);
      else sends.push(...this.#sendShare(line, pushed));
    }
    await Promise.all(sends);
  }

  /** Pushes more of this iteration's gradient: flat, in the arena. */
  async pushLeftover(leftover: Vector, lr: number): Promise<void> {
    const { arena, own, rank, serverLinks } = this.#options;
    const sends = serverLinks.flatMap(({ line, range }) => {
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
   * All shares of an iteration have been pushed.
   * @throws the transport's errors
   */
  async pushed(end: PushEnd): Promise<void> {
    await Promise.all(this.#options.serverLinks.map((link) => this.#end(link, end)));
  }

  /**
   * Does what `pushed` and then `ask` do, in one message. Later messages follow it; the answer may
   * still be on its way.
   */
  pushedAndAsk(end: PushEnd, ask: PullRequest): Promise<Reply> {
    return this.#askAll(ask, end);
  }

  /**
   * Waits until the iteration may begin, with weights, or until it is certain that all meet
   * before it.
   * @throws the transport's errors
   */
  ask(ask: PullRequest): Promise<Reply> {
    return this.#askAll(ask);
  }

  /**
   * Stops pushing until all have met; then all ranks get the weights with every push
   * applied.
   * @throws the transport's errors
   */
  async meet(weights: Vector): Promise<void> {
    const { arena, lines, own, serverLinks } = this.#options;
    await Promise.all(
      serverLinks.map(({ line }) => line && this.#order(line, { kind: 'meet' })),
    );
    await own?.closed();
    await Promise.all(
      serverLinks.flatMap(({ line, range }) => {
        const place = within(weights, range);
        if (line !== undefined) {
          return [line.receive(MEET_STREAM, arena.u8(place.offset, 4 * place.length))];
        }
        own!.meet(arena.f32(place));
        const values = arena.u8(place.offset, 4 * place.length);
        return lines.map((to) => to?.send(MEET_STREAM, values));
      }),
    );
  }

  /** @param end the end of the previous push, if the servers do not know it yet */
  async #askAll(ask: PullRequest, end?: PushEnd): Promise<Reply> {
    const { serverLinks } = this.#options;
    const replies = await Promise.all(
      serverLinks.map((link) => this.#askOne(link, ask, end)),
    );
    // Only the first server knows of unplanned meetings.
    const { meets } = replies[0]!;
    return { meets, version: Math.min(...replies.map(({ version }) => version)) };
  }

  async #end(
    { line }: ServerLink,
    { iteration, wantsMeeting }: PushEnd,
  ): Promise<void> {
    const { own, rank } = this.#options;
    if (line === undefined) own!.pushed(rank, iteration, wantsMeeting);
    else await this.#order(line, { kind: 'pushed', iteration, wantsMeeting });
  }

  async #askOne(
    link: ServerLink,
    ask: PullRequest,
    end: PushEnd | undefined,
  ): Promise<Reply> {
    const { arena, own } = this.#options;
    const { iteration, into } = ask;
    const { line, range } = link;
    const place = within(into, range);
    if (line === undefined) {
      if (end !== undefined) await this.#end(link, end);
      return await own!.pull(iteration, arena.f32(place));
    }
    await this.#order(
      line,
      end === undefined
        ? { kind: 'ask', iteration }
        : { kind: 'pushed', ...end, asks: iteration },
    );
    const bytes = new Uint8Array(REPLY_BYTES);
    await line.receive(REPLY_STREAM, bytes);
    const reply = decodeReply(bytes);
    if (!reply.meets) {
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
    // Values at indices that all ranks share are dense, but fewer.
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

  #order(line: PeerLine, order: Order): Promise<void> {
    return line.send(ORDER_STREAM, encodeOrder(order));
  }

  #sharesOf(plan: ExchangePlan): readonly (readonly BucketShare[])[] {
    const { serverLinks, tensors } = this.#options;
    return planBuckets(tensors, plan).map((bucket) =>
      serverLinks.map(({ range }) => shareOf(bucket, range)),
    );
  }
}

const within = ({ offset }: Vector, { length, start }: ElementRange): Vector => ({
  offset: offset + 4 * start,
  length,
});

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
