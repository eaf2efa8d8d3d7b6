/**
 * The exchange engine: from this rank's gradient to the average over all ranks, by the
 * plan in force. It owns the plan's compressors and works on the shared arena.
 *
 * One exchange: every bucket, in order of readiness, is compensated and compressed and
 * at once given to its collective, so that bucket i is on the wire while bucket i + 1
 * is being compressed. Beside it travels the control message of the iteration, with
 * which the ranks agree on switches and on stopping.
 */
import type { ErrorData } from '../../shared/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/exchange-plan.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';
import {
  carriageOf,
  type Carriage,
  type Combined,
  type CommunicationRequest,
  type Compressor,
  type ExchangeStatistics,
  type MethodDefinition,
  type Payload,
} from '../compression/method.ts';
import { findMethod } from '../compression/registry.ts';
import type { Arena, Vector } from '../kernels/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { ByteLedger, type LedgerLine } from '../profile/byte-ledger.ts';
import type { ExchangeProfile, PhaseClock } from '../profile/phase-clock.ts';
import type { Transport } from '../transport/transport.ts';
import { planBuckets, type Bucket, type FlatTensor } from './buckets.ts';
import { CollectiveGroup } from './collective-group.ts';
import { addStatistics } from './exchange-statistics.ts';
import { notFiniteError } from './not-finite.ts';
import { PlanSchedule } from './plan-schedule.ts';
import { ResidualMemory } from './residual-memory.ts';
import { planTransition, type Transition } from './residual-transition.ts';
import {
  bucketStream,
  CONTROL_STREAM,
  RESIDUAL_STREAM,
  SUMMARY_STREAM,
  WEIGHTS_STREAM,
} from './streams.ts';

export interface EngineOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly clock: PhaseClock;
  readonly tensors: readonly FlatTensor[];
  /** The flat gradient in the arena: input and, averaged, output of an exchange. */
  readonly gradient: Vector;
  readonly seed: number;
  readonly plan: ExchangePlan;
  readonly switches: readonly PlanSwitch[];
}

export interface ExchangeResult {
  readonly profile: ExchangeProfile;
  readonly bytes: LedgerLine & { readonly payload: number };
  readonly statistics: ExchangeStatistics;
  readonly residualNorm?: number | undefined;
  readonly epoch: number;
  readonly method: string;
  /** The collective that carried the largest bucket. */
  readonly collective: string;
  /** All ranks agreed to stop after this iteration. */
  readonly stop: boolean;
}

export interface Fence {
  readonly planSwitch: PlanSwitch;
  readonly from: ExchangePlan;
  readonly transition: Transition;
}

/** Reading the residual costs a pass over it: once in this many iterations. */
const RESIDUAL_NORM_EVERY = 10;

interface BucketExchange {
  readonly bucket: Bucket;
  readonly compressor: Compressor;
  readonly collective: CollectiveDefinition | undefined;
  readonly gradient: Vector;
}

export class ExchangeEngine {
  readonly #options: EngineOptions;
  readonly #schedule: PlanSchedule;
  readonly #ledger: ByteLedger;
  readonly #group: CollectiveGroup;
  readonly #residual: ResidualMemory;
  #method: MethodDefinition;
  #carriage: Carriage;
  #exchanges: readonly BucketExchange[] = [];
  #stopRequested = false;
  #payloadBytes = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#schedule = new PlanSchedule(options.plan, options.switches);
    this.#ledger = new ByteLedger(options.transport.counters);
    this.#group = new CollectiveGroup({
      ...options,
      ledger: this.#ledger,
      epoch: () => this.#schedule.epoch,
    });
    const { arena, kernels, gradient } = options;
    this.#residual = new ResidualMemory(arena, kernels, gradient.length);
    this.#method = findMethod(options.plan.method);
    this.#carriage = carriageOf(this.#method, options.plan.parameters);
    this.#adopt(options.plan);
  }

  get method(): MethodDefinition {
    return this.#method;
  }

  get plan(): ExchangePlan {
    return this.#schedule.plan;
  }

  learn(planSwitch: PlanSwitch): void {
    this.#schedule.learn(planSwitch);
  }

  /** End after the iteration in which every rank has heard that one rank wants it. */
  requestStop(): void {
    this.#stopRequested = true;
  }

  /**
   * The switches that take effect before this iteration. The engine has moved to the new
   * plan when it returns; weights that must be averaged are the caller's to bring.
   */
  fence(iteration: number): readonly Fence[] {
    let from = this.#schedule.plan;
    return this.#schedule.advance(iteration).map((planSwitch) => {
      const next = findMethod(planSwitch.plan.method);
      const transition = planTransition(this.#method, next, planSwitch.residual);
      this.#retire(transition);
      this.#method = next;
      this.#carriage = carriageOf(next, planSwitch.plan.parameters);
      this.#adopt(planSwitch.plan);
      const fence = { planSwitch, from, transition };
      from = planSwitch.plan;
      return fence;
    });
  }

  /**
   * Average the gradient over the ranks, in place.
   * @throws GradwireError `GRADIENT_NOT_FINITE`, the transport's errors
   */
  async exchange(iteration: number): Promise<ExchangeResult> {
    const { clock, transport, kernels } = this.#options;
    clock.begin();
    this.#payloadBytes = 0;
    const control = this.#agree();
    const running: Promise<ExchangeStatistics>[] = [];
    control.catch(awaitedBelow);
    for (const [index, exchange] of this.#exchanges.entries()) {
      // Let sockets make progress between the compression of one bucket and the next.
      if (index > 0) await new Promise(setImmediate);
      this.#assertFinite(exchange, iteration);
      const exchanged = this.#exchangeBucket(exchange, iteration);
      exchanged.catch(awaitedBelow);
      running.push(exchanged);
    }
    const statistics = await Promise.all(running);
    await this.#residual.flush((leftover) => this.#addAverage(leftover));
    const stop = await control;
    const residual = this.#residual.vector;
    const residualNorm =
      residual !== undefined && iteration % RESIDUAL_NORM_EVERY === 0
        ? clock.measure('compress', () => Math.sqrt(kernels.squaredNorm(residual)))
        : undefined;
    return {
      profile: clock.end(),
      bytes: {
        ...this.#ledger.close(transport.counters),
        payload: this.#payloadBytes,
      },
      statistics: addStatistics(statistics),
      residualNorm,
      epoch: this.#schedule.epoch,
      method: this.#method.id,
      collective: this.#largestCollective(),
      stop,
    };
  }

  /** The average over ranks of a vector in the arena, in place, by a dense collective. */
  async average(vector: Vector): Promise<ExchangeProfile> {
    const { clock } = this.#options;
    clock.begin();
    await this.#group.average(WEIGHTS_STREAM, vector);
    return clock.end();
  }

  /**
   * How far the replicas have drifted apart: max over ranks of ‖wᵢ − w̄‖ / ‖w̄‖ (0 where
   * all weights are 0). The vector stays as it is.
   */
  async divergence(weights: Vector): Promise<number> {
    const { arena, kernels } = this.#options;
    const mean = arena.allocateVector(weights.length);
    try {
      kernels.copy(mean, weights);
      await this.#group.average(WEIGHTS_STREAM, mean);
      const norm = Math.sqrt(kernels.squaredNorm(mean));
      const distance = Math.sqrt(kernels.squaredDistance(weights, mean));
      const [largest] = await this.summarize(
        [norm === 0 ? 0 : distance / norm],
        ['max'],
      );
      return largest!;
    } finally {
      arena.release(mean);
    }
  }

  /** Elementwise sum, minimum or maximum of a few numbers over ranks. */
  summarize(
    values: readonly number[],
    operations: readonly SmallOperation[],
  ): Promise<readonly number[]> {
    return this.#group.summarize(SUMMARY_STREAM, values, operations);
  }

  /** Bytes by which the run's ledger is off; both 0 unless there is a bug. */
  ledgerImbalance(): { sent: number; received: number } {
    return this.#ledger.totals(this.#options.transport.counters);
  }

  abort(error: ErrorData): void {
    this.#options.transport.abort(error);
  }

  /** One control message: the newest epoch known everywhere, and whether to stop. */
  async #agree(): Promise<boolean> {
    const [epoch, stop] = await this.#group.summarize(
      CONTROL_STREAM,
      [this.#schedule.knownEpoch, this.#stopRequested ? 1 : 0],
      ['min', 'max'],
    );
    this.#schedule.agree(epoch!);
    return stop === 1;
  }

  #assertFinite({ bucket, gradient }: BucketExchange, iteration: number): void {
    const { arena, clock, kernels, transport } = this.#options;
    const index = clock.measure('compress', () => kernels.firstNonFinite(gradient));
    if (index < 0) return;
    const value = arena.f32(gradient)[index]!;
    throw notFiniteError({ bucket, index, value, iteration, rank: transport.rank });
  }

  async #exchangeBucket(
    exchange: BucketExchange,
    iteration: number,
  ): Promise<ExchangeStatistics> {
    const { clock } = this.#options;
    const { compressor, gradient } = exchange;
    const communicate = (request: CommunicationRequest): Promise<Combined> =>
      this.#communicate(exchange, request);
    if (compressor.exchange !== undefined) {
      // Its work up to the first message is timed here, messages time themselves.
      return await clock.measure('compress', () =>
        compressor.exchange!(gradient, iteration, communicate),
      );
    }
    const encoded = clock.measure('compress', () =>
      compressor.encode(gradient, iteration),
    );
    const payload = encoded instanceof Promise ? await encoded : encoded;
    // A method in its warm-up sends a dense vector, whatever it will send later.
    const reduces = this.#carriage.reducible || payload.kind === 'dense';
    const operation = reduces ? 'reduce' : 'gather';
    const combined = await communicate({ operation, payload });
    const decoded = clock.measure('decompress', () =>
      compressor.decode(combined, gradient, iteration),
    );
    return decoded instanceof Promise ? await decoded : decoded;
  }

  #communicate(
    { bucket, collective }: BucketExchange,
    request: CommunicationRequest,
  ): Promise<Combined> {
    const { payload } = request;
    this.#payloadBytes += payloadRegion(payload).bytes;
    const stream = bucketStream(bucket.index);
    switch (request.operation) {
      case 'reduce':
        return this.#group.reduce(
          stream,
          this.#carrierOf(payload, collective),
          payload,
        );
      case 'gather':
        return this.#group.gather(stream, payload);
      case 'broadcast':
        return this.#group.broadcast(stream, payload, request.root);
      default:
        return request satisfies never;
    }
  }

  /**
   * The bucket's collective, or the cheapest for a payload that it cannot take: the dense
   * part of a method that mostly sends something else.
   */
  #carrierOf(
    payload: Payload,
    collective: CollectiveDefinition | undefined,
  ): CollectiveDefinition {
    const { kind, length, data } = payload;
    if (collective?.takes.includes(kind) === true) return collective;
    return chooseCollective(kind, {
      ranks: this.#options.transport.size,
      length,
      payloadBytes: data.bytes,
    });
  }

  /** Add the average over ranks of what a retired method kept back. */
  async #addAverage(leftover: Vector): Promise<void> {
    const { clock, kernels, gradient } = this.#options;
    await this.#group.average(RESIDUAL_STREAM, leftover);
    clock.measure('apply', () => {
      kernels.add(gradient, leftover);
    });
  }

  #adopt(plan: ExchangePlan): void {
    const { arena, clock, kernels, transport, tensors, gradient, seed } = this.#options;
    const method = this.#method;
    const residual = method.residual === 'none' ? undefined : this.#residual.keep();
    this.#exchanges = planBuckets(tensors, plan.bucketBytes).map((bucket) => ({
      bucket,
      gradient: slice(gradient, bucket),
      collective: this.#collectiveFor(plan, bucket),
      compressor: method.create({
        length: bucket.length,
        tensors: bucket.tensors,
        parameters: plan.parameters,
        seed,
        rank: transport.rank,
        world: transport.size,
        bucket: bucket.index,
        arena,
        kernels,
        residual: residual === undefined ? undefined : slice(residual, bucket),
        measure: (phase, work) => clock.measure(phase, work),
      }),
    }));
  }

  #collectiveFor(plan: ExchangePlan, bucket: Bucket): CollectiveDefinition | undefined {
    if (!this.#carriage.reducible) return undefined;
    if (plan.collective !== 'auto') return findCollective(plan.collective);
    const { payload } = this.#carriage;
    const { ratio } = plan.parameters;
    // All ranks must choose the same: by what the plan says, not by what one rank has.
    const nnz =
      payload === 'sparse' && typeof ratio === 'number'
        ? Math.ceil(ratio * bucket.length)
        : undefined;
    return chooseCollective(payload, {
      ranks: this.#options.transport.size,
      length: bucket.length,
      payloadBytes:
        payload === 'scalars' ? 8 : nnz === undefined ? 4 * bucket.length : 8 * nnz,
      nnz,
    });
  }

  /** Close the compressors of the plan that ends, and see to its residual. */
  #retire(transition: Transition): void {
    for (const { compressor } of this.#exchanges) compressor[Symbol.dispose]();
    this.#exchanges = [];
    this.#residual.retire(transition);
  }

  #largestCollective(): string {
    let largest: BucketExchange | undefined;
    for (const exchange of this.#exchanges) {
      if (largest === undefined || exchange.bucket.length > largest.bucket.length) {
        largest = exchange;
      }
    }
    return largest?.collective?.id ?? 'allgather';
  }
}

/**
 * Of the messages in flight any may fail before its turn to be awaited comes; when the
 * transport fails they all do, with the error of the first that was awaited.
 */
function awaitedBelow(): void {
  // The caller holds the same promise.
}

function slice(vector: Vector, { start, length }: Bucket): Vector {
  return { offset: vector.offset + 4 * start, length };
}
