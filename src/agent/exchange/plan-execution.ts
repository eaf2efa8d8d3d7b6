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
import { combinedAlone, valueBytesIn, type Combined } from '../memory/payload.ts';
import {
  carriageOf,
  type Carriage,
  type CommunicationRequest,
  type ExchangeStatistics,
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
import { observeBuckets, type BucketObservation } from './bucket-observations.ts';
import { BucketStates } from './bucket-states.ts';
import { BucketSums } from './bucket-sums.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { addStatistics, type ExchangeSummary } from './exchange-statistics.ts';
import { ExchangeWatch } from '../auto/exchange-watch.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { timedExchange } from '../sites/timed-exchange.ts';
import type { NetworkKnowledge } from '../auto/network-knowledge.ts';
import type { Transport } from '../transport/transport.ts';
import {
  RefusingGuard,
  SkippingGuard,
  type NotFiniteGuard,
} from './not-finite-guard.ts';
import type { RunOptions, TakePayload } from './run-request.ts';
import { StepNumbers } from './step-numbers.ts';
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

/** The collective that carried the most bytes of a bucket in an exchange. */
interface Carried {
  readonly bytes: number;
  readonly by: string;
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
  /** Buckets of the last exchange: all, unless models step in turns. */
  #due: readonly BucketExchange[];
  readonly #numbers = new StepNumbers();
  /** The carriers of each bucket's payloads in its last exchange. */
  readonly #carried: (Carried | undefined)[] = [];
  /** Receives the payloads instead of the other ranks. */
  #take: TakePayload | undefined;
  /** Bytes of this rank's payloads in each bucket's last exchange. */
  readonly #payloads: number[];
  readonly #statistics: ExchangeStatistics[] = [];

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
    this.#due = this.#exchanges;
    this.#payloads = this.#exchanges.map(() => 0);
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
    return this.#due.reduce(
      (sum, { bucket }) => sum + this.#payloads[bucket.index]!,
      0,
    );
  }

  /** Observations of each bucket's last exchange. Costs a pass over the residual. */
  async observe(): Promise<readonly BucketObservation[]> {
    const exchanged = this.#exchanges.flatMap(({ bucket }) => {
      const statistics = this.#statistics[bucket.index];
      const payload = this.#payloads[bucket.index]!;
      return statistics === undefined ? [] : [{ bucket, payload, statistics }];
    });
    return await observeBuckets(exchanged, this.#options.site.residual);
  }

  /** The collective that carried the largest bucket in the last exchange. */
  get largestCollective(): string {
    const some = this.#due.length === 0 ? this.#exchanges : this.#due;
    return this.#carriedBy(largestOf(some.map(({ bucket }) => bucket)).index);
  }

  #carriedBy(index: number): string {
    const served = this.#take !== undefined;
    return this.#carried[index]?.by ?? (served ? parameterServer.id : 'allgather');
  }

  /**
   * Replaces the buckets of the gradient by their averages over the ranks.
   * @throws GradwireError `GRADIENT_NOT_FINITE`, the transport's errors
   */
  async run(
    iteration: number,
    {
      readiness,
      named = iteration,
      isFinite = false,
      take,
      checked,
      part,
    }: RunOptions = {},
  ): Promise<ExchangeSummary> {
    const due =
      part === undefined
        ? this.#exchanges
        : this.#exchanges.filter(({ bucket }) => part.has(bucket));
    this.#due = due;
    const models = due.map(({ bucket }) => bucket.model);
    const numberOf = this.#numbers.begin(iteration, models, part);
    const guard = this.#guard(named, checked);
    this.#take = take;
    for (const { bucket } of due) {
      this.#payloads[bucket.index] = 0;
      this.#carried[bucket.index] = undefined;
    }
    this.sums.begin();
    const running: (Promise<ExchangeStatistics> | undefined)[] = [];
    for (const [place, exchange] of due.entries()) {
      const { index, model, runs } = exchange.bucket;
      // Lets sockets make progress between the compression of two buckets.
      if (place > 0) await new Promise(setImmediate);
      await readiness?.reached(runs[0]!.flat);
      await this.#before(index, running);
      const setting = { iteration: numberOf(model), isFinite, guard };
      const exchanged = this.sums.timed(index, () =>
        this.#exchangeBucket(exchange, setting),
      );
      const ended = exchanged.then((statistics) => this.#leave(index, statistics));
      ended.catch(awaitedElsewhere);
      running[index] = ended;
    }
    const results = await Promise.all(
      due.map(async ({ bucket }) => {
        const statistics = await running[bucket.index]!;
        // If `take` received the payloads, nothing has been reduced.
        const own =
          take === undefined ? statistics : { ...statistics, nnzReduced: undefined };
        return { bucket, statistics: own };
      }),
    );
    for (const { bucket, statistics } of results) {
      this.#statistics[bucket.index] = statistics;
    }
    this.sums.add(
      named,
      results.map(({ bucket: { index }, statistics }) => ({
        index,
        statistics,
        payload: this.#payloads[index]!,
        collective: this.#carriedBy(index),
      })),
    );
    return addStatistics(
      results.map(({ bucket: { length, policy, tensors }, statistics }) => {
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

  /** The exchange in progress of the last bucket whose memory this one uses. */
  #before<T>(index: number, running: readonly (T | undefined)[]): T | undefined {
    const { site } = this.#options;
    let before = site.predecessor?.(index);
    // Of a model that does not step now it has ended.
    while (before !== undefined && running[before] === undefined) {
      before = site.predecessor?.(before);
    }
    return before === undefined ? undefined : running[before];
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
      { ...options, passes, buckets: this.#due.length },
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
