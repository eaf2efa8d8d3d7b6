/**
 * A group of ranks that exchange one bucket, over one stream of a transport. `begin` begins
 * an exchange, which lasts until the next `begin`. The communicator numbers exchanges, keeps
 * the scratch and counts what the byte ledger needs. In a world of one nothing may be sent.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { Arena, Region } from '../memory/arena.ts';
import type { Payload } from '../memory/payload.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { ReduceOperation, ReductionKernels } from '../kernels/reduction.ts';
import {
  valueBytesOf,
  type HalfType,
  type ValueBytes,
  type ValueType,
} from '../memory/value-type.ts';
import type { MessageHeader, Transport } from '../transport/transport.ts';
import { CollectiveMemory } from './collective-memory.ts';
import type { CollectiveSettings, Communicator, Quantization } from './collective.ts';
import { assertPlaces, onOneNode } from './ranks-by-node.ts';
import { DEFAULT_SERVERS } from './server-ranks.ts';

/** The purposes of collectives' random numbers start here. */
const FIRST_PURPOSE = 1 << 15;

/** Operation codes from here on are not collectives, but a gather or a broadcast. */
const FIRST_PRIMITIVE = 1000;

/** A payload's kind in the headers; never renumbered. */
const KIND_CODES = { dense: 1, sparse: 2, quantized: 3, scalars: 4 } as const;
/** Codes of dense payloads of 16 bits. */
const HALF_CODES: Readonly<Record<HalfType, number>> = { bfloat16: 5, binary16: 6 };

/** Counts the bytes of every message, framing excluded. */
export interface MessageLedger {
  handed(bytes: number): void;
  consumed(bytes: number): void;
}

export interface CommunicatorOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly stream: number;
  /** The current epoch, in the headers of `beginWith`; default: 0. */
  readonly epoch?: (() => number) | undefined;
  /** Operation that combines entries; default: sum. */
  readonly operation?: ReduceOperation | undefined;
  /** Type of the values in all payloads; default: f32. */
  readonly values?: ValueType | undefined;
  /** Seed of random rounding; the same seed gives the same bits. Default: 0. */
  readonly seed?: number | undefined;
  /** Attributes synchronous work to the `reduce` phase; default: nothing is attributed. */
  readonly reduce?: (<T>(work: () => T) => T) | undefined;
  readonly ledger?: MessageLedger | undefined;
  /** The node of each rank, the same on all ranks; default: all are on one. */
  readonly places?: readonly number[] | undefined;
}

/**
 * Facts that all ranks must agree on in one exchange, beside its number. The settings are not in
 * the header: the epoch's plan has them.
 */
export interface CallHeader
  extends Pick<MessageHeader, 'epoch' | 'operation' | 'dtype'>, CollectiveSettings {
  /** Type of the values in this exchange, if it is not the communicator's. */
  readonly values?: HalfType | undefined;
}

export class TransportCommunicator implements Communicator, Disposable {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly places: readonly number[];
  readonly operation: ReduceOperation;
  /** Type of the values of an exchange that does not name another. */
  readonly values: ValueType;
  /** Numbers that collectives keep from exchange to exchange, until its owner clears them. */
  readonly kept = new CollectiveMemory();
  readonly #transport: Transport;
  readonly #stream: number;
  readonly #epoch: () => number;
  readonly #seed: number;
  readonly #reduce: (<T>(work: () => T) => T) | undefined;
  readonly #ledger: MessageLedger | undefined;
  /** Scratch of the collective that is running, or ran last. */
  readonly #scratch = new Map<string, Region>();
  /** Scratch of gathers and broadcasts on the same stream. */
  readonly #otherScratch = new Map<string, Region>();
  #collective = 0;
  #quantization: Quantization | undefined;
  #servers = DEFAULT_SERVERS;
  #delta: number | undefined;
  #own: HalfType | undefined;
  #sequence = 0;
  #header: MessageHeader | undefined;
  #sentBytes = 0;
  #receivedBytes = 0;
  #sentMessages = 0;
  #receivedMessages = 0;

  /** @throws GradwireError `PLACES_INVALID` */
  constructor(options: CommunicatorOptions) {
    this.arena = options.arena;
    this.kernels = options.kernels;
    this.operation = options.operation ?? 'sum';
    this.values = options.values ?? 'f32';
    this.#transport = options.transport;
    this.#stream = options.stream;
    this.#epoch = options.epoch ?? (() => 0);
    this.#seed = options.seed ?? 0;
    this.#reduce = options.reduce;
    this.#ledger = options.ledger;
    this.places = options.places ?? onOneNode(this.size);
    assertPlaces(this.places, this.size);
  }

  get valueBytes(): ValueBytes {
    return valueBytesOf(this.#own ?? this.values);
  }

  get reduction(): ReductionKernels {
    const { halfSums, reduction, reduction64 } = this.kernels;
    if (this.#own !== undefined) return halfSums[this.#own];
    return this.values === 'f64' ? reduction64 : reduction;
  }

  /** The number of the next exchange, which seeds random rounding. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Sets the sequence before the first exchange, the same on all ranks. */
  goOnFrom(sequence: number): void {
    this.#sequence = sequence;
  }

  get rank(): number {
    return this.#transport.rank;
  }

  get size(): number {
    return this.#transport.size;
  }

  get quantization(): Quantization | undefined {
    return this.#quantization;
  }

  get servers(): number {
    return this.#servers;
  }

  get delta(): number | undefined {
    return this.#delta;
  }

  worldRank(peer: number): number {
    return peer;
  }

  noise(purpose: number): RandomStream {
    return {
      seed: this.#seed,
      rank: this.rank,
      bucket: this.#stream,
      iteration: this.#begun().sequence,
      purpose: FIRST_PURPOSE + purpose,
    };
  }

  /** Bytes handed to and taken from the transport since `begin`, framing excluded. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get sentMessages(): number {
    return this.#sentMessages;
  }

  get receivedMessages(): number {
    return this.#receivedMessages;
  }

  /**
   * Begins the next exchange, as `begin` does: that of a payload in the current epoch.
   * @param operation the collective, gather or broadcast that runs then
   * @param settings the plan's settings for it
   */
  beginWith(
    operation: { readonly code: number },
    payload: Payload,
    settings?: CollectiveSettings,
  ): this {
    const values = payload.kind === 'dense' ? payload.values : undefined;
    return this.begin({
      epoch: this.#epoch(),
      operation: operation.code,
      dtype: values === undefined ? KIND_CODES[payload.kind] : HALF_CODES[values],
      ...settings,
      values,
    });
  }

  /**
   * Begins the next exchange on this stream. All ranks begin the same exchanges in the
   * same order; the previous one must have ended on this rank.
   */
  begin(exchange: CallHeader): this {
    const { operation } = exchange;
    if (isCollective(operation) && operation !== this.#collective) {
      // Otherwise the previous collective's scratch would live as long as the stream.
      this.#release(this.#scratch);
      this.#collective = operation;
    }
    this.#header = {
      stream: this.#stream,
      sequence: this.#sequence,
      epoch: exchange.epoch,
      operation: exchange.operation,
      dtype: exchange.dtype,
    };
    this.#quantization = exchange.quantization;
    this.#servers = exchange.servers ?? DEFAULT_SERVERS;
    this.#delta = exchange.delta;
    this.#own = exchange.values;
    // The frame has 32 bits for it, and a long run may exceed them.
    this.#sequence = (this.#sequence + 1) >>> 0;
    this.#sentBytes = 0;
    this.#receivedBytes = 0;
    this.#sentMessages = 0;
    this.#receivedMessages = 0;
    return this;
  }

  send(to: number, region: Region): Promise<void> {
    this.#sentMessages++;
    this.#sentBytes += region.bytes;
    this.#ledger?.handed(region.bytes);
    const data = this.arena.u8(region.offset, region.bytes);
    return marked(this.#transport.send(to, this.#begun(), data));
  }

  receive(from: number, into: Region): Promise<void> {
    const { bytes, offset } = into;
    const data = this.arena.u8(offset, bytes);
    const received = this.#transport.receive(from, this.#begun(), data);
    // Counted before the caller goes on, and marked, with one promise.
    received.then(() => {
      this.#count(bytes);
    }, awaitedElsewhere);
    return received;
  }

  receiveSized(
    from: number,
    maximum: number,
    place: (bytes: number) => Region,
  ): Promise<Region> {
    let region: Region | undefined;
    const received = this.#transport.receiveSized(
      from,
      this.#begun(),
      maximum,
      (bytes) => {
        const { offset } = place(bytes);
        region = { offset, bytes };
        return this.arena.u8(offset, bytes);
      },
    );
    return marked(
      received.then((bytes) => {
        this.#count(bytes);
        return region!;
      }),
    );
  }

  reduce<T>(work: () => T): T {
    return this.#reduce === undefined ? work() : this.#reduce(work);
  }

  scratch(key: string, bytes: number): Region {
    const scratch = isCollective(this.#header?.operation ?? 0)
      ? this.#scratch
      : this.#otherScratch;
    const kept = scratch.get(key);
    if (kept !== undefined && kept.bytes >= bytes) return kept;
    if (kept !== undefined) this.arena.release(kept);
    const region = this.arena.allocate(bytes);
    scratch.set(key, region);
    return region;
  }

  memory(key: string, count: number): Float64Array {
    return this.kept.numbers(key, count);
  }

  /** Give the scratch back to the arena. */
  [Symbol.dispose](): void {
    this.#release(this.#scratch);
    this.#release(this.#otherScratch);
  }

  #release(scratch: Map<string, Region>): void {
    for (const region of scratch.values()) this.arena.release(region);
    scratch.clear();
  }

  #begun(): MessageHeader {
    if (this.#header === undefined) throw new Error('internal: no exchange has begun');
    return this.#header;
  }

  #count(bytes: number): void {
    this.#receivedMessages++;
    this.#receivedBytes += bytes;
    this.#ledger?.consumed(bytes);
  }
}

const isCollective = (operation: number): boolean =>
  operation > 0 && operation < FIRST_PRIMITIVE;

/**
 * A collective has several messages in flight and fails with the first that fails; the
 * others fail for the same reason, with no caller left to report to.
 */
function marked<T>(message: Promise<T>): Promise<T> {
  message.catch(awaitedElsewhere);
  return message;
}
