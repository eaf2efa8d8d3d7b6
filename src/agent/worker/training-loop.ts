/**
 * The training loop of one rank: batch, gradient, exchange, update, record; fences,
 * evaluations and re-synchronisation in between. Every rank runs the same steps in the
 * same order; all ranks agree on everything that decides a branch.
 */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { statedKind } from '../../shared/records/metric.ts';
import { pipelinePosition } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { Notice } from '../../shared/records/notice.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { RankCheckpoint } from '../checkpoint/rank-checkpoint.ts';
import type { Fence } from '../exchange/exchange-calls.ts';
import type { Arena } from '../memory/arena.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { StepResult, Trainer } from '../training/trainer.ts';
import type { Gathered } from '../world/report-channel.ts';
import type { CheckpointKeeper } from './checkpoint-keeper.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { EventTurns } from './event-turns.ts';
import { ExchangeReports } from './exchange-reports.ts';
import { FiniteMeasures, requireFiniteStep } from './finite-measures.ts';
import { DueComparisons } from './due-comparisons.ts';
import { makeIterationRecord } from './iteration-record.ts';
import { copyState, restoreState } from './loop-state.ts';
import { RankNotices } from './rank-notices.ts';
import { Replicas, type Evaluation } from './replicas.ts';
import { GradientComparison } from './steps/gradient-comparison.ts';
import {
  isDue,
  type Span,
  type Steps,
  type StepsOptions,
  type TakenStep,
} from './steps/steps.ts';
import { makeTraceRecord } from './trace-record.ts';
import { TrainedPlan } from './trained-plan.ts';
import { TracedIterations } from './traced-iterations.ts';

export interface LoopOptions {
  readonly rank: number;
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  readonly arena: Arena;
  /** Opens the steps, which decide how ranks share the work. */
  readonly openSteps: (options: StepsOptions) => Steps;
  /** The fences before iteration 0, and their notices. */
  readonly fences: readonly Fence[];
  readonly notices: readonly Notice[];
  readonly report: (report: Gathered<RunRecord>) => void;
  /** Waits for room for reports; undefined while there is some. */
  readonly room: () => Promise<void> | undefined;
  /** Whether the engine runs on this thread. */
  readonly engineIsInline: boolean;
  /** Keeps checkpoints; undefined if none are kept. */
  readonly checkpoints?: CheckpointKeeper | undefined;
  /** The checkpoint to resume from; default: none. */
  readonly resume?: RankCheckpoint | undefined;
  /** Tells that the first iteration is done, which has compiled the model's functions. */
  readonly begun?: (() => void) | undefined;
}

/** Agreement of iterations without exchange. */
const NOTHING_AGREED = { fences: [], notices: [] };

export class TrainingLoop {
  readonly #options: LoopOptions;
  readonly #notices: RankNotices;
  readonly #finite: FiniteMeasures;
  readonly #reports: ExchangeReports;
  readonly #replicas: Replicas;
  readonly #plan: TrainedPlan;
  readonly #comparisons: DueComparisons;
  readonly #steps: Steps;
  readonly #turns = new EventTurns();
  readonly #traced = new TracedIterations();
  /** The metric of the last evaluation on the test set. */
  #lastMetric: number | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    const { rank, report, spec, trainer } = options;
    const notices = new RankNotices(rank, report);
    this.#notices = notices;
    this.#finite = new FiniteMeasures(notices);
    this.#reports = new ExchangeReports({
      rank,
      report,
      finite: this.#finite,
      notices,
    });
    this.#plan = new TrainedPlan({ spec, trainer, notices });
    const position = pipelinePosition(spec, rank);
    const { ranks } = spec.world;
    this.#replicas = new Replicas({
      ...options,
      ranks,
      finite: this.#finite,
      position,
    });
    const comparison = new GradientComparison(options.engine, options.arena);
    this.#steps = options.openSteps({
      ...options,
      comparison,
      requireFinite: (step, iteration) => {
        requireFiniteStep(step, { rank, iteration, title: trainer.metric.title });
      },
      notice: (notice) => {
        notices.own(notice);
      },
      isTraced: () => this.#traced.isOn,
      wantsWeights: (iteration) => this.#wantsWeights(iteration),
    });
    this.#comparisons = new DueComparisons({
      rank,
      compareEvery: spec.compareEvery,
      comparison,
      steps: this.#steps,
      notices,
      report,
    });
  }

  /** @param plan the plan before the first fence; on a resume, the checkpoint's */
  async run(plan: ExchangePlan): Promise<void> {
    const { spec, trainer, rank, resume } = this.#options;
    this.#plan.adopt(resume?.engine.schedule.epoch ?? 0, plan);
    // Before velocities are restored, because it may reset them.
    trainer.takePlainSteps(this.#plan.replaced);
    if (resume !== undefined) await this.#restore(resume);
    if (resume === undefined) this.#noticeStaleness();
    let { fences, notices } = this.#options;
    const first = resume?.iteration ?? 0;
    let lastStep: StepResult = { loss: undefined, metric: undefined };
    for (let iteration = first; ; iteration++) {
      const start = performance.now();
      for (const notice of notices) this.#notices.own(notice);
      const averages =
        fences.length === 0 ? [] : await this.#passFences(fences, iteration);
      // A run that resumes there need not move its state a second time.
      if (fences.length > 0)
        this.#options.checkpoints?.expectAfterSwitch(iteration + 1);
      const compares = this.#comparisons.isDueIn(iteration, this.#plan.replaced);
      const taken = await this.#steps.take(iteration, compares);
      if (taken === undefined) {
        await this.#finish(iteration - 1, lastStep, false);
        return;
      }
      trainer.takePlainSteps(this.#plan.replaced);
      const end = performance.now();
      const { at, step } = taken;
      lastStep = step;
      const result = taken.exchange?.result;
      const { inForce } = this.#plan;
      if (result !== undefined)
        this.#finite.residualNorm(result.residualNorm, iteration);
      // Read now, and not when the record is made: a program tells the rate of its last step only.
      const lr = trainer.learningRate(iteration);
      this.#options.report(() =>
        makeIterationRecord({
          rank,
          iteration,
          length: trainer.length,
          lr,
          marks: {
            at,
            wall: taken.wall ?? end - start + taken.elsewhere,
            data: taken.data,
            compute: taken.compute,
            apply: taken.apply,
          },
          step,
          exchange: result,
          inForce,
          staleness: taken.staleness,
          thread: taken.thread,
          drained: taken.drained,
          averages: [...averages, ...(taken.averages ?? [])],
        }),
      );
      if (result !== undefined) this.#reports.exchanged(result, { at, iteration });
      this.#trace(iteration, [start, end], taken);
      if (compares) await this.#comparisons.report(iteration, this.#plan.errorBound);
      await this.#options.room();
      await this.#turns.take(end);
      if (iteration === first) this.#options.begun?.();
      const stop = result?.stop === true;
      const last = stop || iteration + 1 === spec.iterations;
      if (!last) await this.#maintain(iteration);
      ({ fences, notices } = taken.exchange ?? NOTHING_AGREED);
      if (last) {
        await this.#finish(iteration, step, stop);
        return;
      }
      // A gradient computed ahead belongs to the next iteration, and is in no checkpoint.
      const ahead = spec.doubleBuffer === true ? 2 : 1;
      if (result?.checkpoint === true)
        this.#options.checkpoints?.expect(iteration + ahead);
      // The fence's work is not done yet, so the checkpoint waits. And checkpoints need
      // all ranks to have the same weights.
      if (fences.length > 0 || result === undefined) continue;
      await this.#keep(iteration + 1, result.pause);
      if (result.pause) return;
    }
  }

  /** Reports the iteration's trace if it was traced, and begins or ends to trace. */
  #trace(iteration: number, span: Span, taken: TakenStep): void {
    const { engine, engineIsInline, rank, report } = this.#options;
    const { trace = 0, traced: exchange } = taken.exchange?.result ?? {};
    const wasOn = this.#traced.isOn;
    if (!wasOn && trace === 0) return;
    if (wasOn) {
      const facts = { rank, iteration, span, taken, exchange, engineIsInline };
      report(() => makeTraceRecord(facts));
    }
    const over = this.#traced.passed(iteration, trace);
    if (this.#traced.isOn !== wasOn) engine.trace(!wasOn);
    if (over !== undefined) this.#notices.ofAll(over);
  }

  /** Writes a checkpoint before this iteration, if one is due or requested. */
  async #keep(iteration: number, now: boolean): Promise<void> {
    const { checkpoints, trainer, engine } = this.#options;
    if (checkpoints === undefined || !(now || checkpoints.isDue(iteration))) return;
    const parts = { trainer, engine, steps: this.#steps };
    const notice = await checkpoints.keep(iteration, () =>
      copyState(parts, iteration, this.#lastMetric),
    );
    if (notice !== undefined) this.#notices.own(notice);
  }

  async #restore(checkpoint: RankCheckpoint): Promise<void> {
    const { trainer } = this.#options;
    await restoreState({ trainer, steps: this.#steps }, checkpoint);
    this.#lastMetric = checkpoint.metric;
  }

  async #passFences(
    fences: readonly Fence[],
    iteration: number,
  ): Promise<readonly ExchangeProfile[]> {
    const averages: ExchangeProfile[] = [];
    // This iteration's step flushes the residual of a method with its own momentum and
    // must not add momentum again: the optimiser's begins with the next step.
    const plain = new Set(this.#plan.replaced);
    for (const { planSwitch, from, transition, state } of fences) {
      if (transition.resynchronize) {
        await this.#replicas.divergence(iteration);
        averages.push(...(await this.#replicas.resynchronize(this.#steps.state)));
      }
      const { epoch, foreseen, plan, why } = planSwitch;
      this.#plan.adopt(epoch, plan);
      for (const name of this.#plan.replaced) plain.add(name);
      if (this.#options.rank === 0) {
        this.#options.report({
          type: 'switch',
          at: Date.now(),
          fence: iteration,
          epoch,
          from: { ...from },
          to: { ...plan },
          residual: transition.residual,
          state: state.outcome,
          ...(state.dropped.length === 0 ? {} : { stateDropped: state.dropped }),
          resynchronized: transition.resynchronize,
          ...(foreseen === undefined ? {} : { foreseen }),
          ...(why === undefined ? {} : { why }),
        });
      }
    }
    this.#options.trainer.takePlainSteps(plain);
    return averages;
  }

  #noticeStaleness(): void {
    const { doubleBuffer, iterations } = this.#options.spec;
    if (doubleBuffer !== true || iterations === 1) return;
    this.#notices.ofAll({
      level: 'info',
      code: 'GRADIENTS_STALE',
      message:
        'doubleBuffer applies each gradient one iteration late, to weights that have ' +
        'changed since it was computed',
    });
  }

  /** Work between iterations, outside their wall time. */
  async #maintain(iteration: number): Promise<void> {
    const { evaluateEvery } = this.#options.spec;
    const here = { since: iteration, iteration };
    if (isDue(evaluateEvery, here)) await this.#evaluate(iteration);
    const { drifts, measureEvery, resyncEvery } = this.#plan.drift;
    if (!drifts) return;
    if (isDue(measureEvery, here)) await this.#replicas.divergence(iteration);
    // Between exchanges replicas differ anyway, so averaging waits for the next
    // exchange.
    if (!this.#steps.exchangesIn(iteration)) return;
    const since = this.#steps.since(iteration);
    if (isDue(resyncEvery, { since, iteration })) {
      await this.#replicas.resynchronize(this.#steps.state);
    }
  }

  /** Whether the loop looks at weights after an iteration, or changes them. */
  #wantsWeights(iteration: number): boolean {
    const { iterations } = this.#options.spec;
    if (iteration + 1 === iterations) return true;
    const { drifts, measureEvery, resyncEvery } = this.#plan.drift;
    if (!drifts) return false;
    const here = { since: iteration, iteration };
    return isDue(measureEvery, here) || isDue(resyncEvery, here);
  }

  async #evaluate(iteration: number): Promise<Evaluation> {
    if (!this.#options.trainer.evaluates) return { averaged: undefined };
    const differ = this.#plan.drift.drifts || !this.#steps.exchangesIn(iteration);
    const evaluation = await this.#replicas.evaluate(iteration, differ);
    this.#lastMetric = evaluation.metric;
    return evaluation;
  }

  async #finish(iteration: number, step: StepResult, stopped: boolean): Promise<void> {
    const { trainer, engine, rank, spec, report } = this.#options;
    const { drifts } = this.#plan.drift;
    const divergence = drifts ? await this.#replicas.divergence(iteration) : undefined;
    const { averaged, metric: own } = await this.#evaluate(iteration);
    if (drifts) await this.#replicas.resynchronize(this.#steps.state);
    const metric = drifts ? averaged?.metric : own;
    const { consistent, weights } = await this.#replicas.digest();
    const loss = await this.#mean(step.loss);
    const { intervals } = await engine.call('sums', {});
    this.#reports.sums(intervals, iteration + 1);
    const { sent, received } = await engine.call('balance', {});
    this.#reports.imbalance(sent, iteration);
    this.#reports.imbalance(received, iteration);
    if (rank !== 0) return;
    report({
      type: 'done',
      at: Date.now(),
      reason: stopped && iteration + 1 < spec.iterations ? 'stopped' : 'completed',
      iterations: iteration + 1,
      ...(loss === undefined ? {} : { loss }),
      ...(metric === undefined ? {} : { metric }),
      ...(drifts && own !== undefined ? { replicaMetric: own } : {}),
      ...statedKind(trainer.metric),
      consistent,
      ...(isProgram(spec.workload) ? { attached: true as const } : {}),
      weights,
      ...(divergence === undefined ? {} : { divergence }),
    });
  }

  /** The mean over the ranks that have one: all, the last stages, or none. */
  async #mean(value: number | undefined): Promise<number | undefined> {
    const { values } = await this.#options.engine.call('summarize', {
      values: [value ?? 0, value === undefined ? 0 : 1],
      operations: ['sum', 'sum'],
    });
    const [sum, count] = values as [number, number];
    return count === 0 ? undefined : sum / count;
  }
}
