/**
 * The exchange engine: turns this rank's gradient into the average over all ranks, by
 * the current plan. It owns the plan's execution; gradient and residual are at their
 * site.
 *
 * The iteration's control message is exchanged along with the buckets. With it the
 * ranks agree on switches, on stopping, and on observations of the previous exchange,
 * by which `auto` may change its choice.
 * Upholds invariant I2 (docs/architecture.md).
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { NetworkKnowledge } from '../auto/network-knowledge.ts';
import type { RankScores } from '../collectives/rank-pairs.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import { PlanSchedule } from '../plan/plan-schedule.ts';
import { transitionOf, type Transition } from '../plan/residual-transition.ts';
import { ByteLedger } from '../profile/byte-ledger.ts';
import type { ExchangeProfile, PhaseClock } from '../profile/phase-clock.ts';
import { SpanLog } from '../profile/span-log.ts';
import { MOST_SPANS } from '../../shared/records/trace.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { transportSubset } from '../transport/transport-subset.ts';
import type { Transport } from '../transport/transport.ts';
import { AsynchronousExchange } from './asynchronous-exchange.ts';
import { CollectiveGroup } from './collective-group.ts';
import type { EngineState, PortableState } from './engine-state.ts';
import type {
  ExchangeRequest,
  ExchangeResult,
  Fence,
  SummaryScope,
} from './exchange-calls.ts';
import type { ExchangeSummary } from './exchange-statistics.ts';
import type { OrderedEngine } from './order-actions.ts';
import { PlanExecution, type RunOptions } from './plan-execution.ts';
import { Readiness } from './readiness.ts';
import { SkippableExchange } from './skippable-exchange.ts';
import {
  CONTROL_STREAM,
  FINITE_STREAM,
  OBSERVATION_STREAM,
  GROUP_SUMMARY_STREAM,
  RESIDUAL_STREAM,
  SUMMARY_STREAM,
  WEIGHTS_STREAM,
} from './streams.ts';
import { OwnWishes, type Wishes } from './wishes.ts';

export interface EngineOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly clock: PhaseClock;
  readonly tensors: readonly FlatTensor[];
  /** Memory of the flat gradient: input and, averaged, output of an exchange. */
  readonly site: GradientSite;
  readonly seed: number;
  /**
   * Ranks with the same tensors, this one among them: they exchange gradients, and all ranks
   * agree on plans. Default: all ranks.
   */
  readonly group?: readonly number[] | undefined;
  readonly plan: ExchangePlan;
  readonly switches: readonly PlanSwitch[];
  /** Measured constants, the same on all ranks; default: those of loopback. */
  readonly network?: NetworkCost | undefined;
  /** The node of each rank, the same on all ranks; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Whether its nodes are others in every run. */
  readonly allocated?: boolean | undefined;
  /** Whether that network is emulated. */
  readonly emulated?: boolean | undefined;
  /** Saved state of an engine of this rank; default: the run begins. */
  readonly resume?: EngineState | undefined;
}

/** Iterations between readings of the residual, each of which costs a pass over it. */
const RESIDUAL_NORM_EVERY = 10;

export class ExchangeEngine implements Disposable, OrderedEngine {
  readonly #options: EngineOptions;
  readonly #schedule: PlanSchedule;
  readonly #ledger: ByteLedger;
  /** Ranks that exchange gradients; and all ranks, which may be the same. */
  readonly #group: CollectiveGroup;
  readonly #world: CollectiveGroup;
  readonly #knowledge: NetworkKnowledge;
  /** Replaces exchanges if ranks do not wait for each other. */
  readonly asynchronous: AsynchronousExchange;
  #execution: PlanExecution;
  readonly #wishes = new OwnWishes();
  /** Notices of orders, for the next exchange. */
  readonly #notes: Notice[] = [];
  /** Learning rate η of the last exchange, where its plan keeps updates. */
  #keptAt: number | undefined;
  /** The exchange in progress, if something else runs beside it. */
  #beside: { iteration: number; readiness: Readiness; isExposed: boolean } | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#schedule = new PlanSchedule(options.plan, options.switches);
    this.#ledger = new ByteLedger(options.transport.counters);
    this.#knowledge = new NetworkKnowledge(
      options.network,
      options.emulated,
      options.places,
      options.allocated,
    );
    const common = {
      ...options,
      ledger: this.#ledger,
      epoch: () => this.#schedule.epoch,
    };
    const { places, group, transport } = options;
    this.#world = new CollectiveGroup(common);
    this.#group =
      group === undefined
        ? this.#world
        : new CollectiveGroup({
            ...common,
            transport: transportSubset(transport, group),
            places: places && group.map((rank) => places[rank]!),
          });
    const { resume } = options;
    if (resume !== undefined) this.#schedule.restore(resume.schedule);
    this.#execution = this.#execute(this.#schedule.plan);
    if (resume !== undefined) this.#restore(resume);
    this.asynchronous = new AsynchronousExchange({
      ...options,
      ledger: this.#ledger,
      group: this.#group,
      schedule: this.#schedule,
      velocities: resume?.velocities,
      execution: () => this.#execution,
      observe: (iteration, inspects) => this.#observe(iteration, inspects),
      wishes: this.#wishes,
    });
  }

  /**
   * The state that another engine needs to continue as this one, between two exchanges without
   * a fence since the last. Valid until the next exchange.
   */
  async save(): Promise<EngineState> {
    return {
      schedule: this.#schedule.save(),
      watch: this.#execution.watch.save(),
      streams: this.#group.save(),
      buckets: await this.#execution.save(),
      residual: await this.#options.site.residual.save(),
      keptAt: this.#keptAt,
      velocities: this.asynchronous.velocities,
    };
  }

  /** State for a program's own checkpoint, between two exchanges, also where a fence was passed. */
  async portable(): Promise<PortableState> {
    return {
      method: this.#schedule.plan.method,
      states: await this.#execution.save(),
      residual: await this.#options.site.residual.total(),
    };
  }

  /** Takes over methods' state of another engine; on all ranks alike. Returns whether it fits. */
  adopt({ method, states }: Omit<PortableState, 'residual'>): boolean {
    return method === this.#schedule.plan.method && this.#execution.adopt(states);
  }

  #restore({ buckets, keptAt, residual, streams, watch }: EngineState): void {
    this.#execution.restore(buckets, watch);
    this.#group.restore(streams);
    if (residual !== undefined) this.#options.site.residual.restore(residual);
    this.#keptAt = keptAt;
  }

  get plan(): ExchangePlan {
    return this.#schedule.plan;
  }

  learn(planSwitch: PlanSwitch): void {
    this.#schedule.learn(planSwitch);
  }

  /** Ends after the iteration in which all ranks have learnt that one rank wants it. */
  requestStop(): void {
    this.#wishes.stop();
  }

  /** Traces this number of iterations, from the one after all ranks have learnt that one rank wants it. */
  requestTrace(iterations: number): void {
    this.#wishes.trace(iterations);
  }

  /** Begins or ends to log spans and messages, which each exchange then returns. */
  trace(on: boolean): void {
    this.#options.clock.log = on ? new SpanLog(MOST_SPANS) : undefined;
  }

  /** Says in the next exchange that this rank has no more gradients. */
  requestEnd(): void {
    this.#wishes.end();
  }

  /** Requests a pause, as `requestStop` does a stop; takes precedence if ranks request both. */
  requestPause(): void {
    this.#wishes.pause();
  }

  /** Requests a checkpoint after the iteration in which all ranks have learnt that one rank wants it. */
  requestCheckpoint(): void {
    this.#wishes.checkpoint();
  }

  /**
   * The switches that take effect before this iteration. On return the engine has moved
   * to the new plan; the caller must average weights if needed.
   */
  async fence(iteration: number): Promise<readonly Fence[]> {
    let from = this.#schedule.plan;
    const fences: Fence[] = [];
    for (const planSwitch of this.#schedule.advance(iteration)) {
      const { plan, residual } = planSwitch;
      const transition = transitionOf(from, plan, this.#options.tensors, residual);
      const left = await this.#execution.leave();
      this.#retire(transition);
      this.#execution = this.#execute(plan);
      const state = this.#execution.take(left);
      fences.push({ planSwitch, from, transition, state });
      from = plan;
    }
    if (fences.length > 0) this.asynchronous.replan(from);
    return fences;
  }

  /**
   * Marks all elements from this one on as ready, in an exchange that began before its
   * gradient was computed.
   */
  advance(iteration: number, from: number): void {
    if (this.#beside?.iteration === iteration) this.#beside.readiness.advance(from);
  }

  /**
   * The trainer has finished its work during this exchange and waits from this moment.
   * @param moment on this thread's clock
   */
  exposed(iteration: number, moment: number): void {
    if (this.#beside?.iteration !== iteration) return;
    this.#beside.isExposed = true;
    this.#options.clock.hideUntil(moment);
  }

  /**
   * Average the gradient over the ranks, in place.
   * @param beside what the trainer does meanwhile: compute this gradient, with `advance`
   * reporting what is ready, or the next one; both end with `exposed`
   * @param inspects whether to observe each bucket afterwards
   * @param skips whether a gradient that is not finite is skipped by all ranks, and not refused
   * @throws GradwireError `GRADIENT_NOT_FINITE`, the transport's errors
   */
  async exchange(
    iteration: number,
    {
      beside,
      inspects = false,
      isFinite,
      reportedIteration: named = iteration,
      lr: rate,
      skips = false,
    }: ExchangeRequest = {},
  ): Promise<ExchangeResult> {
    const readiness = beside === undefined ? undefined : new Readiness();
    if (readiness !== undefined) {
      this.#beside = { iteration, readiness, isExposed: false };
      if (beside === 'next') readiness.advance(0);
      // Before there is anything to send, waiting is not communication.
      await readiness.reached(this.#execution.firstElement);
    }
    try {
      const run = (checked: RunOptions['checked']) =>
        this.#execution.run(iteration, { readiness, named, isFinite, checked });
      return await this.#exchange(iteration, run, { inspects, rate, skips });
    } finally {
      this.#beside = undefined;
    }
  }

  async #exchange(
    iteration: number,
    run: (checked?: RunOptions['checked']) => Promise<ExchangeSummary>,
    {
      inspects,
      rate,
      skips = false,
    }: {
      readonly inspects: boolean;
      readonly rate?: number | undefined;
      readonly skips?: boolean | undefined;
    },
  ): Promise<ExchangeResult> {
    const { clock, site, transport } = this.#options;
    clock.begin(this.#beside !== undefined);
    const control = this.#agree();
    control.catch(awaitedElsewhere);
    this.#keepUpdates(rate);
    const skippable = skips ? await this.#skippable() : undefined;
    const statistics = await run(skippable?.checked);
    const skipped = await skippable?.end();
    const flushed =
      skipped === undefined
        ? site.residual.flush((leftover) =>
            this.#group.average(RESIDUAL_STREAM, leftover),
          )
        : undefined;
    if (flushed !== undefined) await flushed;
    const { wished, observed } = await control;
    const { watch } = this.#execution;
    const looks = inspects || iteration % RESIDUAL_NORM_EVERY === 0;
    const looked = looks ? await this.#observe(iteration, inspects) : undefined;
    const settled = clock.follow('decompress', () => site.settled());
    if (settled !== undefined) await settled;
    // The trainer's messages may still be on their way.
    if (this.#beside?.isExposed === false) await new Promise(setImmediate);
    // The exchange ended before the trainer did.
    if (this.#beside?.isExposed === false) clock.hideUntil(Infinity);
    const profile = clock.end();
    const collective = this.#execution.largestCollective;
    // Decisions made now apply to the next exchange.
    watch.consider(observed);
    watch.finish(profile);
    return {
      profile,
      bytes: {
        ...this.#ledger.close(transport.counters),
        payload: this.#execution.payloadBytes,
      },
      statistics,
      skipped,
      ...looked,
      ...this.#inForce(collective),
      ...wished,
      ...this.#traced(),
      notices: watch.takeNotices(),
    };
  }

  #skippable(): Promise<SkippableExchange> {
    const { site, tensors, transport } = this.#options;
    if (site.undo === undefined) throw new Error('internal: skips on a device');
    return SkippableExchange.begin({
      execution: this.#execution,
      undo: site.undo,
      length: tensors.reduce((sum, tensor) => sum + tensor.length, 0),
      rank: transport.rank,
      least: async (value) => {
        const [least] = await this.#world.summarize(FINITE_STREAM, [value], ['min']);
        return least!;
      },
    });
  }

  /**
   * The residual m is a sum of gradients, which the learning rate of the sending
   * iteration multiplies. A plan that keeps updates keeps ε = η·m instead, so m is
   * rescaled when η changes. The plan of the previous exchange decides which of the two
   * is kept, also for what a switch flushes. Rates are never 0, except that the last of
   * very many may round to 0; m is then left unchanged.
   */
  #keepUpdates(rate: number | undefined): void {
    const before = this.#keptAt;
    if (rate === 0) return;
    const { residualUnits } = this.#schedule.plan;
    this.#keptAt = residualUnits === 'update' ? rate : undefined;
    if (before === undefined || rate === undefined || before === rate) return;
    const { clock, site } = this.#options;
    clock.measure('compress', () => {
      site.residual.scale(before / rate);
    });
  }

  /** The log of this exchange, while the run is traced. */
  #traced(): Pick<ExchangeResult, 'traced'> {
    const { log } = this.#options.clock;
    if (log === undefined) return {};
    const { timeOrigin } = performance;
    const buckets = this.#execution.bucketNames;
    return { traced: { ...log.take(), timeOrigin, buckets } };
  }

  #inForce(
    collective: string,
  ): Pick<ExchangeResult, 'epoch' | 'method' | 'collective'> {
    const { epoch, plan } = this.#schedule;
    return { epoch, method: plan.method, collective };
  }

  /** Measures that need a pass over the residual, when due. */
  async #observe(
    iteration: number,
    inspects: boolean,
  ): Promise<Pick<ExchangeResult, 'residualNorm' | 'buckets'>> {
    const { clock } = this.#options;
    const residualNorm =
      iteration % RESIDUAL_NORM_EVERY === 0
        ? await clock.follow('compress', () => this.#residualNorm())
        : undefined;
    const buckets = inspects
      ? await clock.follow('compress', () => this.#execution.observe())
      : undefined;
    return { residualNorm, buckets };
  }

  async #residualNorm(): Promise<number | undefined> {
    const squares = await this.#options.site.residual.squaredNorm();
    return squares === undefined ? undefined : Math.sqrt(squares);
  }

  /**
   * The average over ranks of a vector in the arena, in place, by a dense collective.
   * @param measures whether it only measures and is not part of training, so that its bytes
   * do not count for the next exchange
   */
  async average(vector: Vector, measures = false): Promise<ExchangeProfile> {
    const { clock } = this.#options;
    clock.begin();
    const work = () => this.#group.average(WEIGHTS_STREAM, vector);
    await (measures ? this.#aside(work) : work());
    return clock.end();
  }

  /**
   * Measures how far the replicas have drifted apart: max over ranks of ‖wᵢ − w̄‖ / ‖w̄‖ (0 if all
   * weights are 0). Does not change the vector.
   */
  async divergence(weights: Vector): Promise<number> {
    const { arena, kernels } = this.#options;
    const mean = arena.allocateVector(weights.length);
    try {
      kernels.copy(mean, weights);
      await this.#aside(() => this.#group.average(WEIGHTS_STREAM, mean));
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

  /**
   * Elementwise sum, minimum or maximum of a few numbers over ranks: measures of the run.
   * @param among all ranks, or those with the same tensors
   */
  summarize(
    values: readonly number[],
    operations: readonly SmallOperation[],
    among: SummaryScope = 'world',
  ): Promise<readonly number[]> {
    return this.#aside(() =>
      among === 'world'
        ? this.#world.summarize(SUMMARY_STREAM, values, operations)
        : this.#group.summarize(GROUP_SUMMARY_STREAM, values, operations),
    );
  }

  /** Counts pairs over all ranks, as a measure of the run (`CollectiveGroup.countPairs`). */
  countPairs(scores: RankScores): Promise<number> {
    return this.#aside(() => this.#world.countPairs(SUMMARY_STREAM, scores));
  }

  /** Does work between two exchanges, apart from both. */
  async #aside<T>(work: () => Promise<T>): Promise<T> {
    const end = this.setAside();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /**
   * Messages sent during this work only measure the run. To be called between two
   * exchanges.
   */
  setAside(): () => void {
    const { transport } = this.#options;
    const end = this.#ledger.setAside({ ...transport.counters });
    return () => {
      end(transport.counters);
    };
  }

  /** Ledger of all messages, including those of others. */
  get ledger(): ByteLedger {
    return this.#ledger;
  }

  /** Epoch of the plan in force. */
  get epoch(): number {
    return this.#schedule.epoch;
  }

  /** The ledger's imbalance in bytes; both are 0 unless there is a bug. */
  ledgerImbalance(): { sent: number; received: number } {
    return this.#ledger.totals(this.#options.transport.counters);
  }

  /** Parts of the plan that run elsewhere than at the gradient's site, and notes; reported once. */
  takeNotices(): Notice[] {
    return [...this.#options.site.takeNotices(), ...this.#notes.splice(0)];
  }

  note(notice: Parameters<OrderedEngine['note']>[0]): void {
    this.#notes.push(notice as Notice);
  }

  /**
   * Disposes of the plan and the residual; the caller owns the arena and the transport.
   */
  [Symbol.dispose](): void {
    this.asynchronous[Symbol.dispose]();
    this.#execution[Symbol.dispose]();
    this.#options.site[Symbol.dispose]();
  }

  abort(error: ErrorData): void {
    this.#options.transport.abort(error);
  }

  /**
   * One control message: the newest epoch known everywhere, whether to stop, and what the
   * ranks saw of the last exchange under this plan.
   */
  async #agree(): Promise<{ wished: Wishes; observed: readonly number[] }> {
    const { watch } = this.#execution;
    // Stages have their own buckets, so observations of these go to their replicas.
    const isSplit = this.#group !== this.#world;
    const seen = isSplit
      ? this.#group.summarize(OBSERVATION_STREAM, watch.report, watch.operations)
      : undefined;
    seen?.catch(awaitedElsewhere);
    const [epoch, request, ...observed] = await this.#world.summarize(
      CONTROL_STREAM,
      [
        this.#schedule.knownEpoch,
        this.#wishes.highest,
        ...(isSplit ? [] : watch.report),
      ],
      ['min', 'max', ...(isSplit ? [] : watch.operations)],
    );
    this.#schedule.agree(epoch!);
    return {
      wished: this.#wishes.agreed(request!),
      observed: (await seen) ?? observed,
    };
  }

  #execute(plan: ExchangePlan): PlanExecution {
    return new PlanExecution({
      ...this.#options,
      plan,
      group: this.#group,
      knowledge: this.#knowledge,
    });
  }

  /** Closes the compressors of the ending plan, and handles its residual. */
  #retire(transition: Transition): void {
    this.#execution[Symbol.dispose]();
    this.#options.site.residual.retire(transition);
  }
}
