/**
 * Executes an exchange plan: the buckets of the flat gradient, a compressor and a
 * collective for each, and one exchange of them all. Every bucket, in order of readiness,
 * is compensated, compressed and at once passed to its collective, so that bucket i is on
 * the wire while bucket i + 1 is being compressed.
 */
import { bucketName } from '../../shared/records/bucket-name.ts';
import { heedsTimes, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { broadcast } from '../collectives/broadcast.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import type { TransportCommunicator } from '../collectives/communicator.ts';
import { gather } from '../collectives/gather.ts';
import {
  combinedAlone,
  valueBytesIn,
  type Combined,
  type Payload,
} from '../memory/payload.ts';
import {
  carriageOf,
  type Carriage,
  type CommunicationRequest,
  type ExchangeStatistics,
} from '../methods/method.ts';
import type { GradientBucket, NotFiniteElement } from '../methods/bucket-compressor.ts';
import type { Arena } from '../memory/arena.ts';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import { planBuckets, type Bucket, type FlatTensor } from '../plan/buckets.ts';
import { compresses } from '../plan/tensor-policy.ts';
import { BucketCarrier, settingsOf } from '../auto/collective-choice.ts';
import { observeBuckets, type BucketObservation } from './bucket-observations.ts';
import { BucketStates } from './bucket-states.ts';
import { BucketSums } from './bucket-sums.ts';
import { CarriedPayloads } from './carried-payloads.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { addStatistics, type ExchangeSummary } from './exchange-statistics.ts';
import { ExchangeWatch } from '../auto/exchange-watch.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { timedExchange } from '../sites/timed-exchange.ts';
import type { NetworkKnowledge } from '../auto/network-knowledge.ts';
import type { Transport } from '../transport/transport.ts';
import { NotFiniteInput } from '../work/not-finite-input.ts';
import type { Answer } from '../work/steps.ts';
import { notFiniteGuard, type NotFiniteGuard } from './not-finite-guard.ts';
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
  readonly stream: number;
  /** The way to the other ranks, on this stream. */
  readonly communicator: TransportCommunicator;
}

/** Facts that the buckets of an exchange have in common. */
interface Setting {
  readonly iteration: number;
  readonly isFinite: boolean;
  readonly guard: NotFiniteGuard;
}

export class PlanExecution implements Disposable {
  /** Receives the choices of `auto`. */
  readonly watch: ExchangeWatch;
  /** The buckets' state besides the residual. */
  readonly states: BucketStates;
  /** Whether every bucket is sent as its own values. */
  readonly isUncompressed: boolean;
  /** Sums of what the buckets cost. */
  readonly sums: BucketSums;
  /** The payloads of this rank. */
  readonly carried: CarriedPayloads;
  readonly #options: ExecutionOptions;
  readonly #exchanges: readonly BucketExchange[];
  readonly #numbers = new StepNumbers();
  /** Receives the payloads instead of the other ranks. */
  #take: TakePayload | undefined;
  readonly #statistics: ExchangeStatistics[] = [];

  constructor(options: ExecutionOptions) {
    const { arena, group, knowledge, plan, seed, site, tensors } = options;
    this.#options = options;
    this.isUncompressed = !compresses(plan);
    const { rank, size: world, places } = group;
    const network = knowledge.costBy(heedsTimes(plan.collective));
    const buckets = planBuckets(tensors, plan);
    site.prepare?.(buckets);
    this.#exchanges = buckets.map((bucket) => {
      const { method, parameters } = bucket.policy;
      const carriage = carriageOf(method, parameters);
      const stream = bucketStream(bucket.index);
      return {
        bucket,
        carriage,
        carrier: new BucketCarrier(plan, bucket, world, network, places),
        stream,
        communicator: group.communicator(stream),
        compressor: site.open({ bucket, method, parameters, seed, rank, world }),
      };
    });
    this.carried = new CarriedPayloads(buckets);
    this.states = new BucketStates(this.#exchanges, group);
    this.sums = new BucketSums({
      clock: options.clock,
      buckets,
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

  /** Observations of each bucket's last exchange. Costs a pass over the residual. */
  async observe(): Promise<readonly BucketObservation[]> {
    const exchanged = this.#exchanges.flatMap(({ bucket }) => {
      const statistics = this.#statistics[bucket.index];
      const payload = this.carried.bytesOf(bucket.index);
      return statistics === undefined ? [] : [{ bucket, payload, statistics }];
    });
    return await observeBuckets(exchanged, this.#options.site.residual);
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
    const models = due.map(({ bucket }) => bucket.model);
    const numberOf = this.#numbers.begin(iteration, models, part);
    const { clock, site, transport } = this.#options;
    const guard = notFiniteGuard(
      {
        clock,
        site,
        iteration: named,
        // The rank in the world; a group of replicas has its own numbering.
        rank: transport.rank,
        buckets: due.length,
        passes: this.isUncompressed,
      },
      checked,
    );
    this.#take = take;
    this.carried.begin(
      due.map(({ bucket }) => bucket),
      take !== undefined,
    );
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
        payload: this.carried.bytesOf(index),
        collective: this.carried.by(index),
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
    for (const { compressor, stream } of this.#exchanges) {
      compressor[Symbol.dispose]();
      this.#options.group.release(stream);
    }
  }

  /** The exchange in progress of the last bucket whose memory this one uses. */
  #before<T>(index: number, running: readonly (T | undefined)[]): T | undefined {
    const { site } = this.#options;
    let before = site.predecessor?.(index);
    // A bucket of a model that does not step now is not being exchanged.
    while (before !== undefined && running[before] === undefined) {
      before = site.predecessor?.(before);
    }
    return before === undefined ? undefined : running[before];
  }

  /** Ends a bucket's exchange. Buckets that share memory also share scratch, which is given back. */
  #leave(index: number, statistics: ExchangeStatistics): ExchangeStatistics {
    const { group, site } = this.#options;
    if (site.predecessor !== undefined) group.clear(bucketStream(index));
    return statistics;
  }

  async #exchangeBucket(
    exchange: BucketExchange,
    setting: Setting,
  ): Promise<ExchangeStatistics> {
    const { clock } = this.#options;
    const { bucket, compressor, stream } = exchange;
    const { guard, iteration } = setting;
    const finite = this.#begin(exchange, setting);
    // Others are checked as they are compressed.
    if (compressor.talks) guard.checked?.();
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
    const encoded = this.#encode(exchange, setting);
    guard.checked?.();
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

  /**
   * Begins a bucket. Returns what must resolve before anything leaves this rank; undefined if
   * nothing must.
   */
  #begin(
    exchange: BucketExchange,
    { guard, isFinite }: Setting,
  ): Promise<void> | undefined {
    const { compressor, stream } = exchange;
    const check = (element: NotFiniteElement | undefined): void => {
      if (element !== undefined) guard.meet(element, exchange);
    };
    const begin = () => compressor.begin(isFinite);
    const found = this.#options.clock.follow('compress', begin, stream);
    if (!(found instanceof Promise)) {
      check(found);
      return undefined;
    }
    const finite = found.then(check);
    finite.catch(awaitedElsewhere);
    return finite;
  }

  /** Compresses a bucket that is one message, again if the guard lets it. */
  #encode(exchange: BucketExchange, { guard, iteration }: Setting): Answer<Payload> {
    const { clock } = this.#options;
    const { compressor, stream } = exchange;
    const work = () => compressor.encode(iteration);
    const encode = () => clock.follow('compress', work, stream);
    const meet = (error: unknown): Answer<Payload> => {
      if (!(error instanceof NotFiniteInput)) throw error;
      guard.meet(error, exchange);
      return encode();
    };
    try {
      const encoded = encode();
      return encoded instanceof Promise ? encoded.catch(meet) : encoded;
    } catch (error) {
      return meet(error);
    }
  }

  async #communicate(
    exchange: BucketExchange,
    request: CommunicationRequest,
  ): Promise<Combined> {
    const { bucket, carrier } = exchange;
    const { payload, operation } = request;
    this.carried.add(bucket.index, request);
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
    this.carried.carry(bucket.index, request, collective?.id);
    const combined = await this.#send(exchange, request, collective);
    this.watch.answered(bucket.index, request, collective, combined);
    return combined;
  }

  /** @param collective of a reduction */
  #send(
    { carrier, communicator }: BucketExchange,
    request: CommunicationRequest,
    collective: CollectiveDefinition | undefined,
  ): Promise<Combined> {
    const { payload } = request;
    switch (request.operation) {
      case 'reduce': {
        const settings = settingsOf(this.#options.plan, collective!, carrier);
        const begun = communicator.beginWith(collective!, payload, settings);
        return collective!.run(begun, payload);
      }
      case 'gather':
        return gather.run(communicator.beginWith(gather, payload), payload);
      case 'broadcast': {
        const begun = communicator.beginWith(broadcast, payload);
        return broadcast.run(begun, payload, request.root);
      }
      default:
        return request satisfies never;
    }
  }
}
