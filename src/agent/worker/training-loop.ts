/**
 * The training loop of one rank: batch, gradient, exchange, update, record; fences,
 * evaluations and re-synchronisation in between. Every rank runs the same steps in the
 * same order; whatever decides a branch is agreed on by all ranks first.
 */
import { createHash } from 'node:crypto';
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { statedKind } from '../../shared/metric.ts';
import type { Notice, RunRecord } from '../../shared/records.ts';
import type { Fence } from '../exchange/exchange-engine.ts';
import {
  driftOf,
  STILL,
  withMomentumReplaced,
  type Drift,
} from '../plan/tensor-policy.ts';
import type { RankCheckpoint } from '../checkpoint/rank-checkpoint.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type {
  EvaluationSums,
  GradientMemory,
  StepResult,
  Trainer,
} from '../training/trainer.ts';
import type { CheckpointKeeper } from './checkpoint-keeper.ts';
import type { EngineClient } from './engine-client.ts';
import { FiniteMeasures, requireFiniteStep } from './finite-measures.ts';
import { GradientComparison } from './gradient-comparison.ts';
import { makeIterationRecord } from './iteration-record.ts';

export interface LoopOptions {
  readonly rank: number;
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  readonly arena: Arena;
  /** Where the engine expects the flat gradient. */
  readonly gradient: GradientMemory;
  /** The fences before iteration 0, and what was noticed at them. */
  readonly fences: readonly Fence[];
  readonly notices: readonly Notice[];
  readonly report: (record: RunRecord) => void;
  /** Undefined while more may be reported at once; otherwise resolves when it may. */
  readonly room: () => Promise<void> | undefined;
  /** Keeps checkpoints; undefined: none are kept. */
  readonly checkpoints?: CheckpointKeeper | undefined;
  /** Where to go on; default: at the beginning. */
  readonly resume?: RankCheckpoint | undefined;
}

/** Of a model on the test set; left out where not finite. */
type Measures = Partial<Readonly<Record<keyof StepResult, number>>>;

interface Evaluation extends Measures {
  /** Of the average of replicas that drift. */
  readonly averaged: Measures | undefined;
}

export class TrainingLoop {
  readonly #options: LoopOptions;
  readonly #finite = new FiniteMeasures({
    own: (notice) => {
      this.#notice(notice);
    },
    ofAll: (notice) => {
      this.#noticeOfAll(notice);
    },
  });
  #weights: Vector | undefined;
  #state: Vector | undefined;
  #drift: Drift = STILL;
  /** Tensors whose momentum the method in force has within it. */
  #replaced: ReadonlySet<string> = new Set();
  #replacementTold = false;
  readonly #comparison: GradientComparison;
  #comparisonRefused = false;
  /** Accuracy on the test set, as it was evaluated last. */
  #lastMetric: number | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#comparison = new GradientComparison(options.engine, options.arena);
  }

  /** @param plan the plan before the first fence; where it goes on, the checkpoint's */
  async run(plan: ExchangePlan): Promise<void> {
    const { spec, trainer, engine, gradient, rank, resume } = this.#options;
    this.#drift = driftOf(plan, trainer.tensors);
    this.#replaceMomentum(plan);
    if (resume !== undefined) await this.#restore(resume);
    let { fences, notices } = this.#options;
    for (let iteration = resume?.iteration ?? 0; ; iteration++) {
      const at = Date.now();
      const start = performance.now();
      for (const notice of notices) this.#notice(notice);
      const averages = await this.#passFences(fences, iteration);
      const afterFence = performance.now();
      trainer.loadBatch(iteration);
      const loaded = performance.now();
      const step = await trainer.computeGradient(gradient);
      const computed = performance.now();
      const compared = this.#comparedGradient(iteration);
      if (compared !== undefined) await this.#comparison.keep(compared);
      const exchanging = await engine.call('exchange', { iteration });
      const exchanged = performance.now();
      // After the exchange, which says more: where a gradient is not finite, and on whom.
      requireFiniteStep(step, { rank, iteration, title: trainer.metric.title });
      const { result } = exchanging;
      await trainer.applyGradient(gradient, iteration);
      trainer.takePlainSteps(this.#replaced);
      const end = performance.now();
      this.#options.report(
        makeIterationRecord({
          rank,
          iteration,
          length: trainer.length,
          lr: trainer.learningRate(iteration),
          marks: {
            at,
            wall: end - start,
            data: loaded - afterFence,
            compute: computed - loaded,
            apply: end - exchanged,
          },
          step,
          exchange: {
            ...result,
            residualNorm: this.#finite.residualNorm(result.residualNorm, iteration),
          },
          averages,
        }),
      );
      const { similarities } = result.statistics;
      if (rank === 0 && similarities !== undefined) {
        this.#options.report({
          type: 'similarity',
          at,
          iteration,
          buckets: this.#finite.similarities(similarities, iteration),
        });
      }
      if (compared !== undefined) await this.#reportComparison(compared, iteration);
      this.#reportImbalance(result.bytes.imbalance, iteration);
      for (const notice of result.notices) this.#noticeOfAll(notice);
      await this.#options.room();
      const last = result.stop || iteration + 1 === spec.iterations;
      if (!last) await this.#maintain(iteration);
      ({ fences, notices } = exchanging);
      if (last) {
        await this.#finish(iteration, step, result.stop);
        return;
      }
      // What a fence does is not done yet: the checkpoint waits until it is.
      if (fences.length > 0) continue;
      await this.#keep(iteration + 1, result.pause);
      if (result.pause) return;
    }
  }

  /** The gradient, where it is to be compared in this iteration, and can be. */
  #comparedGradient(iteration: number): Float32Array | undefined {
    const { gradient, spec } = this.#options;
    const { compareEvery } = spec;
    if (compareEvery === undefined || (iteration + 1) % compareEvery !== 0) {
      return undefined;
    }
    if (gradient instanceof Float32Array && this.#replaced.size === 0) return gradient;
    if (!this.#comparisonRefused) {
      this.#comparisonRefused = true;
      this.#noticeOfAll({
        level: 'warning',
        code: 'COMPARISON_SKIPPED',
        message:
          this.#replaced.size > 0
            ? 'what is applied has momentum in it: it is not compared with gradients'
            : 'the gradient stays on the GPU, where it is not compared; engine: thread brings it back',
      });
    }
    return undefined;
  }

  async #reportComparison(applied: Float32Array, iteration: number): Promise<void> {
    const difference = await this.#comparison.difference(applied);
    if (this.#options.rank !== 0) return;
    this.#options.report({
      ...{ type: 'comparison', at: Date.now(), iteration },
      ...difference,
    });
  }

  /** Keeps a checkpoint before this iteration, where one is due or wanted now. */
  async #keep(iteration: number, now: boolean): Promise<void> {
    const { checkpoints, trainer, engine } = this.#options;
    if (checkpoints === undefined || !(now || checkpoints.isDue(iteration))) return;
    const notice = await checkpoints.keep(iteration, async () => {
      const weights = new Float32Array(trainer.length);
      const state = new Float32Array(trainer.stateLength);
      await trainer.readWeights(weights);
      await trainer.readState(state);
      const saved = await engine.call('save', {});
      return {
        ...{ iteration, weights, state },
        engine: saved.state,
        metric: this.#lastMetric,
      };
    });
    if (notice !== undefined) this.#notice(notice);
  }

  async #restore({ weights, state, metric }: RankCheckpoint): Promise<void> {
    const { trainer } = this.#options;
    // Before the velocities come, which would begin anew by it.
    trainer.takePlainSteps(this.#replaced);
    await trainer.writeWeights(weights);
    await trainer.writeState(state);
    this.#lastMetric = metric;
  }

  async #passFences(
    fences: readonly Fence[],
    iteration: number,
  ): Promise<readonly ExchangeProfile[]> {
    const averages: ExchangeProfile[] = [];
    // What a method that has momentum within it kept back is flushed by this iteration's
    // step, which must not give it momentum again: the optimiser's begins with the next.
    const plain = new Set(this.#replaced);
    for (const { planSwitch, from, transition, state } of fences) {
      if (transition.resynchronize) {
        await this.#reportDivergence(iteration);
        averages.push(...(await this.#resynchronize()));
      }
      const { plan } = planSwitch;
      this.#replaceMomentum(plan);
      for (const name of this.#replaced) plain.add(name);
      this.#drift = driftOf(plan, this.#options.trainer.tensors);
      if (this.#options.rank === 0) {
        this.#options.report({
          type: 'switch',
          at: Date.now(),
          fence: iteration,
          epoch: planSwitch.epoch,
          from: { ...from },
          to: { ...plan },
          residual: transition.residual,
          state: state.outcome,
          ...(state.dropped.length === 0 ? {} : { stateDropped: state.dropped }),
          resynchronized: transition.resynchronize,
        });
      }
    }
    this.#options.trainer.takePlainSteps(plain);
    return averages;
  }

  #replaceMomentum(plan: ExchangePlan): void {
    const { trainer, spec } = this.#options;
    this.#replaced = withMomentumReplaced(plan, trainer.tensors);
    const { momentum } = spec.optimizer;
    if (this.#replaced.size === 0 || momentum === 0 || this.#replacementTold) return;
    this.#replacementTold = true;
    const elements = trainer.tensors
      .filter(({ name }) => this.#replaced.has(name))
      .reduce((sum, { length }) => sum + length, 0);
    this.#noticeOfAll({
      level: 'info',
      code: 'MOMENTUM_REPLACED',
      message:
        `momentum is within the compression of ${elements} of ${trainer.length} ` +
        `elements: the optimiser's, ${momentum}, does not apply to them`,
    });
  }

  /** What happens between iterations, outside their wall time. */
  async #maintain(iteration: number): Promise<void> {
    const { evaluateEvery } = this.#options.spec;
    const done = iteration + 1;
    if (evaluateEvery > 0 && done % evaluateEvery === 0)
      await this.#evaluate(iteration);
    const { drifts, measureEvery, resyncEvery } = this.#drift;
    if (!drifts) return;
    if (measureEvery > 0 && done % measureEvery === 0) {
      await this.#reportDivergence(iteration);
    }
    if (resyncEvery > 0 && done % resyncEvery === 0) await this.#resynchronize();
  }

  /**
   * Reports the model on the test set. Replicas that drift are measured twice: each on its
   * share of the set, and the model whose weights are their average.
   */
  async #evaluate(iteration: number): Promise<Evaluation> {
    const { trainer, rank, report } = this.#options;
    const start = performance.now();
    const { samples, ...finite } = await this.#measure(iteration, '');
    const averaged = this.#drift.drifts
      ? await this.#measureAverage(iteration)
      : undefined;
    this.#lastMetric = finite.metric;
    if (rank === 0) {
      report({
        ...{ type: 'evaluation', at: Date.now(), iteration },
        ...finite,
        ...(averaged === undefined ? {} : { averaged }),
        ...statedKind(trainer.metric),
        samples,
        wall: performance.now() - start,
      });
    }
    return { ...finite, averaged };
  }

  /** The weights are the replica's own again when this resolves. */
  async #measureAverage(iteration: number): Promise<Measures> {
    const { trainer, engine, arena } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    const own = new Float32Array(trainer.length);
    await trainer.readWeights(own);
    const mean = arena.f32(this.#weights);
    mean.set(own);
    await engine.call('average', { vector: this.#weights, measures: true });
    await trainer.writeWeights(mean);
    const { loss, metric } = await this.#measure(iteration, ' of the averaged model');
    await trainer.writeWeights(own);
    return {
      ...(loss === undefined ? {} : { loss }),
      ...(metric === undefined ? {} : { metric }),
    };
  }

  /** Over the test samples of all ranks. @param whose for a notice, where not finite */
  async #measure(
    iteration: number,
    whose: string,
  ): Promise<Measures & { readonly samples: number }> {
    const { trainer, engine } = this.#options;
    const own = await trainer.evaluate();
    const { values } = await engine.call('summarize', {
      values: own,
      operations: own.map(() => 'sum'),
    });
    const sums = values as unknown as EvaluationSums;
    const { title } = trainer.metric;
    const measured = trainer.measuresOf(sums);
    const finite = this.#finite.evaluation(measured, iteration, { title, whose });
    return { ...finite, samples: sums[0] };
  }

  async #reportDivergence(iteration: number): Promise<number | undefined> {
    const { trainer, engine, arena, rank, report } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    await trainer.readWeights(arena.f32(this.#weights));
    const measured = await engine.call('divergence', { vector: this.#weights });
    const value = this.#finite.divergence(measured.value, iteration);
    if (rank === 0 && value !== undefined) {
      report({ type: 'divergence', at: Date.now(), iteration, value });
    }
    return value;
  }

  /**
   * Replace weights and optimiser state by their averages over ranks. The state too:
   * equal weights with unequal velocities would drift apart again at the next step.
   */
  async #resynchronize(): Promise<readonly ExchangeProfile[]> {
    const { trainer, engine, arena } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    const weights = arena.f32(this.#weights);
    await trainer.readWeights(weights);
    const profiles = [await engine.call('average', { vector: this.#weights })];
    await trainer.writeWeights(weights);
    if (trainer.stateLength > 0) {
      this.#state ??= await this.#allocate(trainer.stateLength);
      const state = arena.f32(this.#state);
      await trainer.readState(state);
      profiles.push(await engine.call('average', { vector: this.#state }));
      await trainer.writeState(state);
    }
    return profiles.map(({ profile }) => profile);
  }

  async #finish(iteration: number, step: StepResult, stopped: boolean): Promise<void> {
    const { trainer, engine, rank, spec, report } = this.#options;
    const { drifts } = this.#drift;
    const divergence = drifts ? await this.#reportDivergence(iteration) : undefined;
    const { averaged, metric: own } = await this.#evaluate(iteration);
    if (drifts) await this.#resynchronize();
    const metric = drifts ? averaged?.metric : own;
    const weights = new Float32Array(trainer.length);
    await trainer.readWeights(weights);
    const digest = createHash('sha256').update(weights).digest();
    const consistent = await this.#agreeOnDigest(digest);
    const { values } = await engine.call('summarize', {
      values: [step.loss],
      operations: ['sum'],
    });
    const { sent, received } = await engine.call('balance', {});
    this.#reportImbalance(sent, iteration);
    this.#reportImbalance(received, iteration);
    if (rank !== 0) return;
    report({
      type: 'done',
      at: Date.now(),
      reason: stopped && iteration + 1 < spec.iterations ? 'stopped' : 'completed',
      iterations: iteration + 1,
      loss: values[0]! / spec.world.ranks,
      ...(metric === undefined ? {} : { metric }),
      ...(drifts && own !== undefined ? { replicaMetric: own } : {}),
      ...statedKind(trainer.metric),
      consistent,
      weights: digest.toString('hex'),
      ...(divergence === undefined ? {} : { divergence }),
    });
  }

  /** Whether all ranks have the same digest: then minimum and maximum are equal. */
  async #agreeOnDigest(digest: Buffer): Promise<boolean> {
    const words = Array.from({ length: digest.length / 4 }, (_, i) =>
      digest.readUInt32LE(4 * i),
    );
    const { values } = await this.#options.engine.call('summarize', {
      values: [...words, ...words],
      operations: [
        ...words.map(() => 'min' as const),
        ...words.map(() => 'max' as const),
      ],
    });
    return words.every((_, i) => values[i] === values[words.length + i]);
  }

  async #allocate(length: number): Promise<Vector> {
    return (await this.#options.engine.call('allocate', { length })).vector;
  }

  #reportImbalance(bytes: number, iteration: number): void {
    if (bytes === 0) return;
    this.#notice({
      level: 'warning',
      code: 'LEDGER_UNBALANCED',
      message: `the byte ledger is off by ${bytes} bytes after iteration ${iteration}`,
    });
  }

  /** What concerns this rank. */
  #notice(notice: Notice): void {
    const { rank, report } = this.#options;
    report({ type: 'notice', at: Date.now(), rank, ...notice });
  }

  /** What all ranks have noticed alike: told once. */
  #noticeOfAll(notice: Notice): void {
    const { rank, report } = this.#options;
    if (rank === 0) report({ type: 'notice', at: Date.now(), ...notice });
  }
}
