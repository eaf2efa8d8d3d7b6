/**
 * Executes an exchange plan: the buckets of the flat gradient, a compressor and a
 * collective for each, and one exchange of them all. Every bucket, in order of readiness,
 * is compensated, compressed and at once passed to its collective, so that bucket i is on
 * the wire while bucket i + 1 is being compressed.
 */
import { bucketName } from '../../shared/records/bucket-name.ts';
import { heedsTimes, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { parameterServer } from '../collectives/parameter-server.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import {
  combinedAlone,
  valueBytesIn,
  type Combined,
  type Payload,
} from '../memory/payload.ts';
import {
  carriageOf,
  residualOf,
  type Carriage,
  type CommunicationRequest,
  type ExchangeStatistics,
  type ThresholdState,
} from '../methods/method.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import type { Arena } from '../memory/arena.ts';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import {
  largestOf,
  planBuckets,
  type Bucket,
  type FlatTensor,
} from '../plan/buckets.ts';
import { compresses } from '../plan/tensor-policy.ts';
import { BucketCarrier, settingsOf } from '../auto/collective-choice.ts';
import { BucketStates } from './bucket-states.ts';
import { BucketSums } from './bucket-sums.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { addStatistics, type ExchangeSummary } from './exchange-statistics.ts';
import { ExchangeWatch } from '../auto/exchange-watch.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { timedExchange } from '../sites/timed-exchange.ts';
import type { NetworkKnowledge } from '../auto/network-knowledge.ts';
import type { Transport } from '../transport/transport.ts';
import type { NotFinite } from './not-finite.ts';
import {
  RefusingGuard,
  SkippingGuard,
  type NotFiniteGuard,
} from './not-finite-guard.ts';
import type { Readiness } from './readiness.ts';
import { bucketStream } from './streams.ts';

export interface ExecutionOptions {
  readonly clock: PhaseClock;
  readonly group: CollectiveGroup;
  readonly tensors: readonly FlatTensor[];
  /** Memory of the flat gradient: input and, averaged, output of an exchange. */
  readonly site: GradientSite;
  readonly seed: number;
  readonly plan: ExchangePlan;
  readonly arena: Arena;
  readonly knowledge: NetworkKnowledge;
  readonly transport: Pick<Transport, 'rank'>;
}

interface BucketExchange {
  readonly bucket: Bucket;
  /** The bucket's gradient with its compressor. */
  readonly compressor: GradientBucket;
  readonly carriage: Carriage;
  readonly carrier: BucketCarrier;
}

/** Sizes of what a bucket sent and kept in an exchange, on this rank. */
export interface BucketObservation {
  readonly tensors: readonly string[];
  readonly method: string;
  readonly length: number;
  /** Bytes of the payload. */
  readonly payload: number;
  readonly nnzLocal?: number | undefined;
  readonly nnzReduced?: number | undefined;
  readonly residualNorm?: number | undefined;
  readonly thresholds?: readonly ThresholdState[] | undefined;
}

/** The collective that carried the most bytes of a bucket in an exchange. */
interface Carried {
  readonly bytes: number;
  readonly by: string;
}

/** Takes a bucket's payload; resolves when its memory may be reused. */
export type TakePayload = (bucket: Bucket, payload: Payload) => Promise<void>;

export interface RunOptions {
  readonly readiness?: Readiness | undefined;
  readonly named?: number | undefined;
  readonly isFinite?: boolean | undefined;
  readonly take?: TakePayload | undefined;
  readonly checked?: ((found: NotFinite | undefined) => void) | undefined;
}

export class PlanExecution implements Disposable {
  /** Receives the choices of `auto`. */
  readonly watch: ExchangeWatch;
  /** The buckets' state besides the residual. */
  readonly states: BucketStates;
  /** Sums of what the buckets cost. */
  readonly sums: BucketSums;
  readonly #options: ExecutionOptions;
  readonly #exchanges: readonly BucketExchange[];
  /** The carriers of each bucket's payloads in the last exchange. */
  #carried: Carried[] = [];
  /** Receives the payloads instead of the other ranks. */
  #take: TakePayload | undefined;
  /** Bytes of this rank's payloads in the last exchange, by bucket. */
  #payloads: number[] = [];
  #statistics: readonly ExchangeStatistics[] = [];

  constructor(options: ExecutionOptions) {
    const { arena, group, knowledge, plan, seed, site, tensors } = options;
    this.#options = options;
    const { rank, size: world, places } = group;
    const network = knowledge.costBy(heedsTimes(plan.collective));
    const buckets = planBuckets(tensors, plan);
    site.prepare?.(buckets);
    this.#exchanges = buckets.map((bucket) => {
      const { method, parameters } = bucket.policy;
      const carriage = carriageOf(method, parameters);
      return {
        bucket,
        carriage,
        carrier: new BucketCarrier(plan, bucket, world, network, places),
        compressor: site.open({ bucket, method, parameters, seed, rank, world }),
      };
    });
    this.states = new BucketStates(this.#exchanges, group);
    this.sums = new BucketSums({
      clock: options.clock,
      buckets: this.#exchanges.map(({ bucket }) => bucket),
      ranks: world,
      site,
    });
    this.watch = new ExchangeWatch({
      plan,
      carriers: this.#exchanges.map(({ carrier }) => carrier),
      ranks: world,
      places,
      arena,
      knowledge,
    });
  }

  /** Whether every bucket is sent as its own values. */
  get isUncompressed(): boolean {
    return !compresses(this.#options.plan);
  }

  /** The first element of the bucket that is exchanged first. */
  get firstElement(): number {
    return this.#exchanges[0]!.bucket.runs[0]!.flat;
  }

  /** Names of the buckets, by index. */
  get bucketNames(): readonly string[] {
    return this.#exchanges.map(({ bucket }) =>
      bucketName(bucket.tensors.map(({ name }) => name)),
    );
  }

  /** Payload bytes of this rank in the last exchange. */
  get payloadBytes(): number {
    return this.#payloads.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Observations of the last exchange, by bucket. Costs a pass over the residual. */
  async observe(): Promise<readonly BucketObservation[]> {
    const { residual } = this.#options.site;
    const observations: BucketObservation[] = [];
    for (const { bucket } of this.#exchanges) {
      const { index, length, policy, runs, tensors } = bucket;
      const { nnzLocal, nnzReduced, thresholds } = this.#statistics[index] ?? {};
      const kept =
        residualOf(policy.method, policy.parameters) === 'none'
          ? undefined
          : await residual.squaredNorm(
              runs.map((run) => ({ start: run.flat, length: run.length })),
            );
      observations.push({
        tensors: tensors.map(({ name }) => name),
        method: policy.method.id,
        length,
        payload: this.#payloads[index]!,
        nnzLocal,
        nnzReduced,
        residualNorm: kept === undefined ? undefined : Math.sqrt(kept),
        thresholds: thresholds?.(),
      });
    }
    return observations;
  }

  /** The collective that carried the largest bucket in the last exchange. */
  get largestCollective(): string {
    const { index } = largestOf(this.#exchanges.map(({ bucket }) => bucket));
    return this.#carriedBy(index);
  }

  #carriedBy(index: number): string {
    const served = this.#take !== undefined;
    return this.#carried[index]?.by ?? (served ? parameterServer.id : 'allgather');
  }

  /**
   * Replaces every bucket of the gradient by its average over the ranks.
   * @param readiness how much of the gradient is ready; default: all of it
   * @param named the iteration's number in errors
   * @param isFinite whether the gradient is known to be finite; otherwise it is checked
   * @param take receives the payloads instead of the other ranks; the gradient is then
   * overwritten
   * @param checked takes what is not finite, if anything, once all buckets are checked; default:
   * such a gradient is refused
   * @throws GradwireError `GRADIENT_NOT_FINITE`, the transport's errors
   */
  async run(
    iteration: number,
    { readiness, named = iteration, isFinite = false, take, checked }: RunOptions = {},
  ): Promise<ExchangeSummary> {
    const guard = this.#guard(named, checked);
    this.#take = take;
    this.#payloads = this.#exchanges.map(() => 0);
    this.#carried = [];
    this.sums.begin();
    const running: Promise<ExchangeStatistics>[] = [];
    for (const [index, exchange] of this.#exchanges.entries()) {
      // Lets sockets make progress between the compression of two buckets.
      if (index > 0) await new Promise(setImmediate);
      await readiness?.reached(exchange.bucket.runs[0]!.flat);
      const before = this.#options.site.predecessor?.(index);
      if (before !== undefined) await running[before];
      const exchanged = this.sums.timed(index, () =>
        this.#exchangeBucket(exchange, { iteration, isFinite, guard }),
      );
      const ended = exchanged.then((statistics) => this.#leave(index, statistics));
      ended.catch(awaitedElsewhere);
      running.push(ended);
    }
    const sums = await Promise.all(running);
    // If `take` received the payloads, nothing has been reduced.
    const all =
      take === undefined
        ? sums
        : sums.map((statistics) => ({ ...statistics, nnzReduced: undefined }));
    this.#statistics = all;
    this.sums.add(named, {
      statistics: all,
      payloads: this.#payloads,
      collectives: this.#exchanges.map((_, index) => this.#carriedBy(index)),
    });
    return addStatistics(
      all.map((statistics, index) => {
        const { length, policy, tensors } = this.#exchanges[index]!.bucket;
        const whole = policy.method.uncompressed === true ? length : undefined;
        return { statistics, whole, tensors };
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const { bucket, compressor } of this.#exchanges) {
      compressor[Symbol.dispose]();
      this.#options.group.release(bucketStream(bucket.index));
    }
  }

  /** Ends a bucket's exchange: where buckets share memory, the next one also needs its scratch. */
  #leave(index: number, statistics: ExchangeStatistics): ExchangeStatistics {
    const { group, site } = this.#options;
    if (site.predecessor !== undefined) group.clear(bucketStream(index));
    return statistics;
  }

  #guard(named: number, checked: RunOptions['checked']): NotFiniteGuard {
    const { clock, site, transport } = this.#options;
    // The rank in the world; a group of replicas has its own numbering.
    const options = { clock, site, iteration: named, rank: transport.rank };
    if (checked === undefined) return new RefusingGuard(options);
    const { isUncompressed: passes } = this;
    return new SkippingGuard(
      { ...options, passes, buckets: this.#exchanges.length },
      checked,
    );
  }

  async #exchangeBucket(
    exchange: BucketExchange,
    {
      guard,
      isFinite,
      iteration,
    }: { iteration: number; isFinite: boolean; guard: NotFiniteGuard },
  ): Promise<ExchangeStatistics> {
    const { clock } = this.#options;
    const { bucket, compressor } = exchange;
    const stream = bucketStream(bucket.index);
    const finite = guard.begin(exchange, isFinite);
    if (this.sums.isLast) {
      const squares = clock.measure('compress', () => compressor.wanted);
      this.sums.wanted(bucket.index, squares);
    }
    const communicate = async (request: CommunicationRequest): Promise<Combined> => {
      // Nothing leaves this rank before the gradient is known to be finite.
      if (finite !== undefined) await finite;
      return await this.#communicate(exchange, request);
    };
    if (compressor.talks) {
      return await timedExchange(clock, compressor, iteration, communicate, stream);
    }
    const encoded = guard.encode(exchange, () => compressor.encode(iteration));
    const payload = encoded instanceof Promise ? await encoded : encoded;
    // A method in its warm-up sends a dense vector, whatever it sends later.
    const reduces = exchange.carriage.reducible || payload.kind === 'dense';
    const operation = reduces ? 'reduce' : 'gather';
    const combined = await communicate({ operation, payload });
    return await clock.follow(
      'decompress',
      () => compressor.decode(combined, iteration),
      stream,
    );
  }

  async #communicate(
    { bucket, carrier }: BucketExchange,
    request: CommunicationRequest,
  ): Promise<Combined> {
    const { payload, operation } = request;
    this.#payloads[bucket.index]! += payloadRegion(payload).bytes;
    if (this.#take !== undefined) {
      await this.#take(bucket, payload);
      return combinedAlone(payload);
    }
    const { kind, length, data } = payload;
    const collective =
      operation === 'reduce'
        ? carrier.of({
            kind,
            length,
            bytes: data.bytes,
            valueBytes: valueBytesIn(payload),
          })
        : undefined;
    if (operation !== 'broadcast') {
      const by = collective?.id ?? 'allgather';
      const { index } = bucket;
      if (data.bytes >= (this.#carried[index]?.bytes ?? 0)) {
        this.#carried[index] = { bytes: data.bytes, by };
      }
    }
    const combined = await this.#send(
      bucketStream(bucket.index),
      request,
      collective,
      carrier,
    );
    this.watch.answered(bucket.index, request, collective, combined);
    return combined;
  }

  /** @param collective of a reduction */
  #send(
    stream: number,
    request: CommunicationRequest,
    collective: CollectiveDefinition | undefined,
    carrier: BucketCarrier,
  ): Promise<Combined> {
    const { group } = this.#options;
    const { payload } = request;
    switch (request.operation) {
      case 'reduce': {
        const settings = settingsOf(this.#options.plan, collective!, carrier);
        return group.reduce(stream, collective!, payload, settings);
      }
      case 'gather':
        return group.gather(stream, payload);
      case 'broadcast':
        return group.broadcast(stream, payload, request.root);
      default:
        return request satisfies never;
    }
  }
}
