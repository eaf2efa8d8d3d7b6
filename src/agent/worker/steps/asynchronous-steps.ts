/**
 * Asynchronous training: a rank pushes the gradient of each batch to the servers, which move
 * their weights by it at once, and pulls weights for the next. It is at most s iterations ahead
 * of the slowest rank. All ranks meet, with the same weights, before evaluations and
 * checkpoints, at switches, at a stop and at the end.
 *
 * A gradient of iteration t has staleness t − v if its weights have every rank's pushes of
 * the iterations before v. It is at most s.
 *
 * Where a rank has several trainer threads, each has its own iteration under way
 * (docs/decisions/053-trainer-threads.md); `take` returns them in order.
 *
 * Cost: 4·n bytes for the pulled weights, written to the trainer in each iteration. With several
 * threads, this per thread, plus 4·n for each thread's gradient, which is copied once.
 */
import type { StalenessSettings } from '../../../shared/spec/parallelism/asynchronous.ts';
import type { Arena } from '../../memory/arena.ts';
import { computeFrom, type TrainerThread } from '../trainers/trainer-thread.ts';
import {
  AsynchronousRound,
  waited,
  type Meeting,
  type PushedIteration,
} from './asynchronous-round.ts';
import { isDue, type Steps, type StepsOptions, type TakenStep } from './steps.ts';

export interface AsynchronousStepsOptions extends StepsOptions {
  readonly served: StalenessSettings;
  readonly arena: Arena;
  /** Memory in which the engine expects gradients. */
  readonly gradient: Float32Array;
  /** Trainer threads beside this one, which then computes no gradients; default: none. */
  readonly threads?: readonly TrainerThread[] | undefined;
}

type Exchanged = NonNullable<TakenStep['exchange']>;

export class AsynchronousSteps implements Steps {
  readonly #options: AsynchronousStepsOptions;
  /** The servers, and so the engine, hold everything else that a checkpoint needs. */
  readonly state = [];
  /** Pushed gradients are not averages. */
  readonly exchanged = undefined;
  #threads: readonly TrainerThread[] | undefined;
  /** The current round; undefined if all ranks have met and have the same weights. */
  #round: AsynchronousRound | undefined;

  constructor(options: AsynchronousStepsOptions) {
    this.#options = options;
  }

  since(iteration: number): number {
    return iteration;
  }

  /** Whether all ranks have the same weights after the last iteration taken. */
  exchangesIn(): boolean {
    return this.#round === undefined;
  }

  async take(iteration: number): Promise<TakenStep> {
    const start = performance.now();
    this.#round ??= await this.#open(iteration);
    const { met, pushed } = await this.#round.finished(iteration);
    const { began, gradient, push, staleness, thread } = pushed;
    const averages = [...pushed.waits];
    let { apply } = gradient;
    let { ended } = pushed;
    if (met !== undefined) {
      const now = performance.now();
      averages.push(met.result.profile);
      averages.push(waited(Math.max(0, now - ended - met.result.profile.wall)));
      await this.#takeOver();
      ended = performance.now();
      apply += ended - now;
      this.#round = undefined;
    }
    const wall = ended - began;
    return {
      ...gradient,
      apply,
      averages,
      staleness,
      exchange: exchanged(push, met),
      ...(this.#threads!.length > 1 ? { thread } : {}),
      drained: push.drained,
      elsewhere: wall - (performance.now() - start),
    };
  }

  /** All ranks begin this iteration, with the same weights. */
  async #open(iteration: number): Promise<AsynchronousRound> {
    const { arena, engine, rank, requireFinite, served, spec, trainer } = this.#options;
    if (this.#threads === undefined) {
      this.#threads = await this.#openThreads();
      await trainer.readWeights(arena.f32(this.#threads[0]!.weights));
    }
    const threads = this.#threads;
    const [{ weights }, ...others] = threads as [TrainerThread, ...TrainerThread[]];
    for (const other of others) arena.f32(other.weights).set(arena.f32(weights));
    const { momentum, nesterov = false, weightDecay = 0 } = spec.optimizer;
    const settings = { ...served, momentum, nesterov, weightDecay };
    const { until } = await engine.call('serve', { iteration, settings, weights });
    return new AsynchronousRound({
      engine,
      requireFinite,
      threads,
      first: iteration,
      staleness: served.staleness,
      meetsBefore: (next) => next === until || this.#meetsBefore(next),
      learningRate: (of) => trainer.learningRate(of),
      inspects: (of) =>
        rank === 0 && isDue(spec.inspectEvery, { since: of, iteration: of }),
    });
  }

  async #openThreads(): Promise<readonly TrainerThread[]> {
    const { arena, engine, gradient, threads = [], trainer } = this.#options;
    if (threads.length > 0) return threads;
    const { vector: weights } = await engine.call('allocate', {
      length: trainer.length,
    });
    return [
      {
        weights,
        gradient: undefined,
        compute: (iteration) =>
          computeFrom(trainer, arena, { weights, gradient }, iteration),
      },
    ];
  }

  /** The shared weights, for use before the next iteration. */
  async #takeOver(): Promise<void> {
    const { arena, trainer } = this.#options;
    await trainer.writeWeights(arena.f32(this.#threads![0]!.weights));
  }

  /** Whether all ranks meet before an iteration; the same on all ranks. */
  #meetsBefore(iteration: number): boolean {
    const { checkpoints, spec } = this.#options;
    if (iteration === spec.iterations || checkpoints?.isDue(iteration) === true) {
      return true;
    }
    const before = iteration - 1;
    return isDue(spec.evaluateEvery, { since: before, iteration: before });
  }
}

/** Agreements at a meeting belong to the iteration before it, whichever was pushed last. */
function exchanged(push: PushedIteration['push'], met: Meeting | undefined): Exchanged {
  if (met === undefined) return { result: push, fences: [], notices: [] };
  const { fences, notices, result } = met;
  const { checkpoint, pause, stop } = result;
  const bytes = { ...push.bytes };
  bytes.wireSent += result.bytes.wireSent;
  bytes.wireReceived += result.bytes.wireReceived;
  bytes.framingSent += result.bytes.framingSent;
  bytes.framingReceived += result.bytes.framingReceived;
  bytes.imbalance += result.bytes.imbalance;
  return { result: { ...push, bytes, checkpoint, pause, stop }, fences, notices };
}
