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
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { NetworkKnowledge } from '../auto/network-knowledge.ts';
import { PlanSchedule } from '../plan/plan-schedule.ts';
import { transitionOf, type Transition } from '../plan/residual-transition.ts';
import { ByteLedger } from '../profile/byte-ledger.ts';
import { SpanLog } from '../profile/span-log.ts';
import { MOST_SPANS } from '../../shared/records/trace.ts';
import { transportSubset } from '../transport/transport-subset.ts';
import { Agreement } from './agreement.ts';
import { AsynchronousExchange } from './asynchronous-exchange.ts';
import { CollectiveGroup } from './collective-group.ts';
import type { EngineOptions } from './engine-options.ts';
import type { EngineState, PortableState } from './engine-state.ts';
import { ExchangeObserver } from './exchange-observer.ts';
import type { ExchangeRequest, ExchangeResult, Fence } from './exchange-calls.ts';
import type { ExchangeSummary } from './exchange-statistics.ts';
import type { OrderedEngine } from './order-actions.ts';
import type { ModelPart } from './model-part.ts';
import { ModelTurns } from './model-turns.ts';
import { PlanExecution } from './plan-execution.ts';
import { SkippableExchange } from './skippable-exchange.ts';
import { RunMeasures } from './run-measures.ts';
import type { RunOptions } from './run-request.ts';
import { ResidualUpkeep } from './residual-upkeep.ts';
import { RESIDUAL_STREAM } from './streams.ts';
import { TrainerBeside } from './trainer-beside.ts';
import { OwnWishes } from './wishes.ts';

export class ExchangeEngine implements Disposable, OrderedEngine {
  readonly #options: EngineOptions;
  readonly #schedule: PlanSchedule;
  readonly #ledger: ByteLedger;
  /** Ranks that exchange gradients; and all ranks, which may be the same. */
  readonly #group: CollectiveGroup;
  readonly #world: CollectiveGroup;
  readonly #knowledge: NetworkKnowledge;
  /** Measures between two exchanges. */
  readonly measures: RunMeasures;
  /** The trainer, while it computes beside an exchange. */
  readonly beside: TrainerBeside;
  /** Replaces exchanges if ranks do not wait for each other. */
  readonly asynchronous: AsynchronousExchange;
  #execution: PlanExecution;
  readonly #wishes = new OwnWishes();
  readonly #agreement: Agreement;
  /** Absent where every step is of all tensors. */
  readonly #turns: ModelTurns | undefined;
  readonly #upkeep: ResidualUpkeep;
  /** Observes exchanges. */
  readonly observer: ExchangeObserver;
  /** Notices of orders, for the next exchange. */
  readonly #notes: Notice[] = [];

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
    const own = {
      ledger: this.#ledger,
      schedule: this.#schedule,
      group: this.#group,
      world: this.#world,
      wishes: this.#wishes,
    };
    this.measures = new RunMeasures({ ...options, ...own });
    this.#agreement = new Agreement(own);
    const { turns: names, tensors } = options;
    this.#turns = names && new ModelTurns({ names, tensors, world: this.#world });
    this.beside = new TrainerBeside(options.clock);
    this.#upkeep = new ResidualUpkeep(options.clock, options.site.residual);
    this.observer = new ExchangeObserver({
      clock: options.clock,
      upkeep: this.#upkeep,
      execution: () => this.#execution,
    });
    const { resume } = options;
    if (resume !== undefined) this.#schedule.restore(resume.schedule);
    this.#execution = this.#execute(this.#schedule.plan);
    if (resume !== undefined) this.#restore(resume);
    this.asynchronous = new AsynchronousExchange({
      ...options,
      ...own,
      velocities: resume?.velocities,
      execution: () => this.#execution,
      observer: this.observer,
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
      buckets: await this.#execution.states.save(),
      residual: await this.#options.site.residual.save(),
      keptAt: this.#upkeep.keptAt,
      velocities: this.asynchronous.velocities,
    };
  }

  /** State for a program's own checkpoint, between two exchanges, also where a fence was passed. */
  async portable(): Promise<PortableState> {
    return {
      method: this.#schedule.plan.method,
      states: await this.#execution.states.save(),
      residual: await this.#options.site.residual.total(),
    };
  }

  /** Takes over methods' state of another engine; on all ranks alike. Returns whether it fits. */
  adopt({ method, states }: Omit<PortableState, 'residual'>): boolean {
    return (
      method === this.#schedule.plan.method && this.#execution.states.adopt(states)
    );
  }

  #restore({ buckets, keptAt, residual, streams, watch }: EngineState): void {
    this.#execution.states.restore(buckets);
    this.#execution.watch.restore(watch);
    this.#group.restore(streams);
    if (residual !== undefined) this.#options.site.residual.restore(residual);
    this.#upkeep.restore(keptAt);
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
      this.observer.leave();
      const left = await this.#execution.states.leave();
      this.#retire(transition);
      this.#execution = this.#execute(plan);
      const state = this.#execution.states.take(left);
      fences.push({ planSwitch, from, transition, state });
      from = plan;
    }
    if (fences.length > 0) this.asynchronous.replan(from);
    return fences;
  }

  /**
   * Average the gradient over the ranks, in place; where models step in turns, that of some of them.
   * @param beside what the trainer does meanwhile: compute this gradient, with `beside`
   * told what is ready, or the next one; both end with `exposed`
   * @param inspects whether to observe each bucket afterwards
   * @param skips whether a gradient that is not finite is skipped by all ranks, and not refused
   * @throws GradwireError `GRADIENT_NOT_FINITE`, `PROGRAM_TURNS_DIFFER`, the transport's errors
   */
  async exchange(
    iteration: number,
    {
      beside,
      isFinite,
      reportedIteration: named = iteration,
      ...request
    }: ExchangeRequest = {},
  ): Promise<ExchangeResult> {
    const readiness = beside === undefined ? undefined : this.beside.begin(iteration);
    if (readiness !== undefined) {
      if (beside === 'next') readiness.advance(0);
      // Before there is anything to send, waiting is not communication.
      await readiness.reached(this.#execution.firstElement);
    }
    try {
      const { clipNorm } = this.#options;
      let clipped: number | undefined;
      const run = async (more: RunOptions) => {
        if (clipNorm !== undefined) clipped = await this.#clip(clipNorm);
        const options = { readiness, named, isFinite, ...more };
        return this.#execution.run(iteration, options);
      };
      const result = await this.#exchange(iteration, run, request);
      return clipped === undefined ? result : { ...result, clipped };
    } finally {
      this.beside.end();
    }
  }

  async #exchange(
    iteration: number,
    run: (more: RunOptions) => Promise<ExchangeSummary>,
    { inspects = false, lr, models = [], skips = false }: ExchangeRequest,
  ): Promise<ExchangeResult> {
    const { clock, site, transport } = this.#options;
    clock.begin(this.beside.isThere);
    const turn = this.#turns?.turn(models);
    const control = this.#agreement.agree(this.#execution.watch, turn);
    control.catch(awaitedElsewhere);
    const part = this.#turns && (await this.#turns.part(models, (await control).turns));
    this.#upkeep.keepUpdates(lr, this.#schedule.plan.residualUnits);
    const mayBeSkipped = skips && part?.length !== 0;
    const skippable = mayBeSkipped ? await this.#skippable(part) : undefined;
    const statistics = await run({ checked: skippable?.checked, part });
    const skipped = await skippable?.end();
    const flushed =
      skipped === undefined
        ? site.residual.flush(
            (leftover) => this.#group.average(RESIDUAL_STREAM, leftover),
            part?.ranges,
          )
        : undefined;
    if (flushed !== undefined) await flushed;
    const { wished, observed } = await control;
    const { epoch, plan } = this.#schedule;
    const { watch } = this.#execution;
    const looks = this.observer.isDue(iteration, inspects);
    const looked = looks ? await this.observer.observe(iteration, inspects) : undefined;
    const settled = clock.follow('decompress', () => site.settled());
    if (settled !== undefined) await settled;
    if (this.beside.isComputing) await this.beside.hear();
    const profile = clock.end();
    const collective = this.#execution.carried.byLargest;
    // Decisions made now apply to the next exchange.
    watch.consider(observed);
    watch.finish(profile);
    return {
      profile,
      bytes: {
        ...this.#ledger.close(transport.counters),
        payload: this.#execution.carried.bytes,
      },
      statistics,
      elements: part?.length,
      skipped,
      ...looked,
      // No iteration reports the exchange that ends a program.
      ...(wished.end ? {} : this.observer.intervals()),
      epoch,
      method: plan.method,
      collective,
      ...wished,
      ...this.#traced(),
      notices: watch.takeNotices(),
    };
  }

  /** Scales the gradient down to norm `clipNorm` if it is longer, and then returns the factor. */
  async #clip(clipNorm: number): Promise<number | undefined> {
    const { clock, site } = this.#options;
    const factor = await clock.follow('compress', () => site.clip(clipNorm));
    return factor < 1 ? factor : undefined;
  }

  #skippable(part: ModelPart | undefined): Promise<SkippableExchange> {
    const { site, tensors, transport } = this.#options;
    return SkippableExchange.begin({
      execution: this.#execution,
      site,
      tensors,
      rank: transport.rank,
      world: this.#world,
      part,
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

  /** Bytes by purpose, counted for every message on this rank's transport. */
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

  /** Notices of orders, and about parts of the plan that run at another site; each only once. */
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
