/**
 * A server of asynchronous training: it has one range of the weights, applies each push as it
 * arrives, and sends the weights as the bound on staleness allows. One loop for each other
 * rank carries out its orders; the worker on the server's own rank makes the same calls
 * directly.
 *
 * Between two meetings the loops run concurrently with the rank's other work. The first server
 * also sets unplanned meetings: every worker asks it before each iteration.
 */
import type { ElementRange } from '../collectives/partition.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region } from '../memory/arena.ts';
import { planBuckets, type Bucket, type FlatTensor } from '../plan/buckets.ts';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { shareOf, type BucketShare } from './bucket-share.ts';
import {
  decodeOrder,
  encodeReply,
  ORDER_BYTES,
  type Form,
  type Order,
  type Reply,
} from './orders.ts';
import { PayloadReader } from './payload-reader.ts';
import {
  ORDER_STREAM,
  PULL_STREAM,
  REPLY_STREAM,
  SHARE_STREAM,
  type PeerLine,
} from './peer-line.ts';
import { StalenessBound } from './staleness-bound.ts';
import { WeightShard, type ShardSettings } from './weight-shard.ts';

export interface ServerSettings extends Omit<ShardSettings, 'workers'> {
  /** Staleness bound s. */
  readonly staleness: number;
  /** Iterations that each worker begins at once after a meeting. */
  readonly trainerThreads: number;
}

export interface WeightServerOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly tensors: readonly FlatTensor[];
  readonly plan: ExchangePlan;
  readonly settings: ServerSettings;
  /** Range of the flat weights that this server has. */
  readonly range: ElementRange;
  /** Whether it is the one that decides on meetings. */
  readonly isFirst: boolean;
  /** The range's initial weights. */
  readonly weights: Float32Array;
  /** Lines by rank; undefined for this one. */
  readonly lines: readonly (PeerLine | undefined)[];
  /** Attributes work to the phase `reduce`. */
  readonly reduce: <T>(work: () => T) => T;
}

/** A bucket's share that a worker has handed over. */
export interface PushedShare {
  readonly iteration: number;
  readonly bucket: number;
  readonly form: Form;
  /** f32 values of the share; indices and values of entries; or the payload. */
  readonly data: readonly Region[];
  readonly lr: number;
}

interface Waiting {
  readonly iteration: number;
  /** The destination of the weights. */
  readonly into: Float32Array;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

interface ServedBucket {
  readonly bucket: Bucket;
  readonly share: BucketShare;
  /** The newest iteration whose weight decay has been applied. */
  decayed: number;
  reader: PayloadReader | undefined;
}

export class WeightServer implements Disposable {
  readonly #options: WeightServerOptions;
  readonly #bound: StalenessBound;
  readonly #shard: WeightShard;
  readonly #scratch = new Map<string, Region>();
  /** Copies of weights in transit, by worker. */
  readonly #copies = new Map<number, Float32Array<ArrayBuffer>>();
  #buckets: readonly ServedBucket[];
  #waiting: Waiting[] = [];
  #loops: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: WeightServerOptions) {
    const { lines, settings, weights } = options;
    this.#options = options;
    this.#bound = new StalenessBound(lines.length, settings.staleness);
    this.#shard = new WeightShard(weights, { workers: lines.length, ...settings });
    this.#buckets = this.#served(options.plan);
  }

  /** Copies this server's weights, while all ranks meet. */
  meet(into: Float32Array): void {
    into.set(this.#shard.weights);
  }

  /** The optimiser's state, between two exchanges; in place. */
  get velocities(): readonly Float32Array[] {
    return this.#shard.velocities;
  }

  /** Adopts the buckets of another plan, while no worker is pushing. */
  replan(plan: ExchangePlan): void {
    this.#closeReaders();
    this.#buckets = this.#served(plan);
  }

  /** All workers begin this iteration; carries out their orders until they meet again. */
  open(iteration: number): void {
    this.#bound.meet(iteration, this.#options.settings.trainerThreads);
    // The weights include the decay of earlier iterations.
    for (const served of this.#buckets) served.decayed = iteration - 1;
    this.#loops = Promise.all(
      this.#options.lines.map(async (line, worker) => {
        if (line === undefined) return;
        try {
          await this.#serve(line, worker);
        } catch (error) {
          this.#fail(error);
          throw error;
        }
      }),
    );
    // Workers that pull or close get the error.
    this.#loops.catch(awaitedElsewhere);
  }

  /** Resolves when every other worker has come to the meeting. */
  async closed(): Promise<void> {
    await this.#loops;
  }

  /** @throws GradwireError `PAYLOAD_INVALID` */
  push(worker: number, pushed: PushedShare): void {
    const { arena, reduce } = this.#options;
    const { data, form, iteration, lr } = pushed;
    const served = this.#buckets[pushed.bucket]!;
    const { share } = served;
    // Once per iteration, even if another thread of a worker has passed it.
    for (; served.decayed < iteration; served.decayed++) {
      reduce(() => {
        this.#shard.decay(share.pieces, lr);
      });
    }
    const [first, second] = data;
    switch (form) {
      case 'dense': {
        const gradient = arena.f32({ offset: first!.offset, length: share.length });
        reduce(() => {
          this.#shard.push(worker, share.pieces, gradient, lr);
        });
        return;
      }
      case 'sparse': {
        const length = first!.bytes / 4;
        const indices = arena.u32(first!.offset, length);
        const values = arena.f32({ offset: second!.offset, length });
        reduce(() => {
          this.#shard.pushEntries(worker, share, { indices, values }, lr);
        });
        return;
      }
      case 'whole': {
        const reader = this.#readerOf(served);
        reduce(() => {
          const all = reader.read(worker, first!, iteration);
          const gradient = all.subarray(share.start, share.start + share.length);
          this.#shard.push(worker, share.pieces, gradient, lr);
        });
        return;
      }
      default:
        form satisfies never;
    }
  }

  /** @param gradient gradient of this server's range */
  addLeftover(worker: number, gradient: Float32Array, lr: number): void {
    this.#options.reduce(() => {
      this.#shard.add(worker, gradient, lr);
    });
  }

  /** An iteration has been pushed completely. */
  pushed(worker: number, iteration: number, wantsMeeting: boolean): void {
    this.#bound.pushed(worker, iteration);
    // When all workers are at the same iteration, the weights are rounded to f32 as in
    // synchronous training.
    if (this.#bound.even) this.#options.reduce(() => this.#shard.round());
    if (wantsMeeting && this.#options.isFirst) this.#bound.wantMeeting();
    this.#settle();
  }

  /** Resolves when the iteration may begin, its weights copied, or when all meet first. */
  pull(iteration: number, into: Float32Array): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure.error as Error);
        return;
      }
      this.#waiting.push({ iteration, into, resolve, reject });
      this.#settle();
    });
  }

  [Symbol.dispose](): void {
    this.#closeReaders();
    for (const region of this.#scratch.values()) this.#options.arena.release(region);
    this.#scratch.clear();
  }

  async #serve(line: PeerLine, worker: number): Promise<void> {
    const { range } = this.#options;
    const bytes = new Uint8Array(ORDER_BYTES);
    const weights = this.#copies.get(worker) ?? new Float32Array(range.length);
    this.#copies.set(worker, weights);
    for (;;) {
      await line.receive(ORDER_STREAM, bytes);
      const order = decodeOrder(bytes);
      switch (order.kind) {
        case 'share':
          this.push(worker, await this.#receiveShare(line, worker, order));
          break;
        case 'leftover': {
          const gradient = new Float32Array(range.length);
          await line.receive(SHARE_STREAM, new Uint8Array(gradient.buffer));
          this.addLeftover(worker, gradient, order.lr);
          break;
        }
        case 'pushed':
          this.pushed(worker, order.iteration, order.wantsMeeting);
          if (order.asks !== undefined) await this.#answer(line, order.asks, weights);
          break;
        case 'ask':
          await this.#answer(line, order.iteration, weights);
          break;
        case 'meet':
          return;
        default:
          order satisfies never;
      }
    }
  }

  /** @param weights on their way to this worker */
  async #answer(
    line: PeerLine,
    iteration: number,
    weights: Float32Array<ArrayBuffer>,
  ): Promise<void> {
    const reply = await this.pull(iteration, weights);
    await line.send(REPLY_STREAM, encodeReply(reply));
    if (!reply.meets) await line.send(PULL_STREAM, new Uint8Array(weights.buffer));
  }

  async #receiveShare(
    line: PeerLine,
    worker: number,
    order: Extract<Order, { kind: 'share' }>,
  ): Promise<PushedShare> {
    const { arena } = this.#options;
    const data: Region[] = [];
    for (const what of order.form === 'sparse' ? ['indices', 'values'] : ['values']) {
      const { offset } = this.#room(`${worker} ${what}`, order.bytes);
      await line.receive(SHARE_STREAM, arena.u8(offset, order.bytes));
      data.push({ offset, bytes: order.bytes });
    }
    return { ...order, data };
  }

  /** Lets waiting workers that may now continue do so, with the current weights. */
  #settle(): void {
    const still: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const answer = this.#bound.ask(waiting.iteration);
      if (answer === 'wait') {
        still.push(waiting);
        continue;
      }
      // A copy, so that later pushes do not change it in transit.
      if (answer === 'begin') waiting.into.set(this.#shard.weights);
      waiting.resolve({ meets: answer === 'meet', version: this.#bound.version });
    }
    this.#waiting = still;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #served(plan: ExchangePlan): readonly ServedBucket[] {
    const { range, tensors } = this.#options;
    return planBuckets(tensors, plan).map((bucket) => ({
      bucket,
      share: shareOf(bucket, range),
      decayed: -1,
      reader: undefined,
    }));
  }

  #readerOf(served: ServedBucket): PayloadReader {
    const { arena, kernels, seed } = this.#options;
    served.reader ??= new PayloadReader({
      arena,
      kernels,
      seed,
      bucket: served.bucket,
    });
    return served.reader;
  }

  #closeReaders(): void {
    for (const { reader } of this.#buckets) reader?.[Symbol.dispose]();
  }

  /** Returns memory, which is kept at the largest size requested so far. */
  #room(key: string, bytes: number): Region {
    const kept = this.#scratch.get(key);
    if (kept !== undefined && kept.bytes >= bytes) return kept;
    if (kept !== undefined) this.#options.arena.release(kept);
    const region = this.#options.arena.allocate(bytes);
    this.#scratch.set(key, region);
    return region;
  }
}
