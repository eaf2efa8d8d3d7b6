/**
 * The gradient of each iteration and its exchange: one after the other, the exchange beginning
 * while the gradient is being computed (`overlap`), or beside the next gradient
 * (`doubleBuffer`).
 */
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { awaitedLater } from '../exchange/awaited-later.ts';
import type { Beside } from '../exchange/exchange-engine.ts';
import type { GradientMemory, StepResult, Trainer } from '../training/trainer.ts';
import type { CheckpointKeeper } from './checkpoint-keeper.ts';
import type { EngineClient } from './engine-client.ts';
import type { EngineCalls } from './engine-protocol.ts';
import type { GradientComparison } from './gradient-comparison.ts';

export interface GradientStepsOptions {
  readonly rank: number;
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  /** Where the engine expects the flat gradient. */
  readonly gradient: GradientMemory;
  readonly checkpoints?: CheckpointKeeper | undefined;
  readonly comparison: GradientComparison;
}

/** A batch's gradient, and what it took, ms. */
interface ComputedGradient {
  /** Wall-clock time at which it was begun, ms since 1970. */
  readonly at: number;
  readonly step: StepResult;
  readonly data: number;
  readonly compute: number;
}

export interface GradientStep extends ComputedGradient {
  readonly exchange: EngineCalls['exchange']['reply'];
  /** Iterations by which the gradient is older than the weights that it will move. */
  readonly staleness: number;
  /**
   * Milliseconds by which the iteration was longer than this call: each is the iteration's of
   * whose batch it was.
   */
  readonly elsewhere: number;
}

export class GradientSteps {
  readonly #options: GradientStepsOptions;
  /** The next iteration's gradient, where it has been computed. */
  #ahead: ComputedGradient | undefined;
  #memoryAhead: Float32Array | undefined;

  constructor(options: GradientStepsOptions) {
    this.#options = options;
  }

  /**
   * What the exchange before this one averaged has been applied.
   * @param compared the gradient, where it is to be compared
   */
  async take(
    iteration: number,
    compared: Float32Array | undefined,
  ): Promise<GradientStep> {
    const { comparison, engine, gradient, spec } = this.#options;
    if (spec.overlap === true && compared === undefined) {
      const exchange = this.#exchange(iteration, 'backward');
      const computed = await this.#compute(iteration, gradient, (from) => {
        engine.advance(iteration, from);
      });
      engine.exposed(iteration);
      return { ...computed, exchange: await exchange, staleness: 0, elsewhere: 0 };
    }
    const ahead = this.#takeAhead();
    const computed = ahead ?? (await this.#compute(iteration, gradient));
    if (compared !== undefined) await comparison.keep(compared);
    const staleness = ahead === undefined ? 0 : 1;
    if (!this.#looksAhead(iteration + 1)) {
      const exchange = await this.#exchange(iteration);
      return { ...computed, exchange, staleness, elsewhere: timeOf(ahead) };
    }
    const exchange = this.#exchange(iteration, 'next');
    this.#ahead = await this.#compute(iteration + 1, this.#nextMemory);
    engine.exposed(iteration);
    const elsewhere = timeOf(ahead) - timeOf(this.#ahead);
    return { ...computed, exchange: await exchange, staleness, elsewhere };
  }

  /** Checkpoints have no gradients in them: none is computed ahead of one. */
  #looksAhead(iteration: number): boolean {
    const { checkpoints, spec } = this.#options;
    const { doubleBuffer, iterations } = spec;
    if (doubleBuffer !== true || iteration === iterations) return false;
    return checkpoints?.isDue(iteration) !== true;
  }

  /** What was computed ahead is where the engine expects it when this returns. */
  #takeAhead(): ComputedGradient | undefined {
    const ahead = this.#ahead;
    if (ahead === undefined) return undefined;
    // It is there: an exchange beside which something is computed is on the host.
    (this.#options.gradient as Float32Array).set(this.#nextMemory);
    this.#ahead = undefined;
    return ahead;
  }

  get #nextMemory(): Float32Array {
    this.#memoryAhead ??= new Float32Array(this.#options.trainer.length);
    return this.#memoryAhead;
  }

  #exchange(
    iteration: number,
    beside?: Beside,
  ): Promise<EngineCalls['exchange']['reply']> {
    const { engine, rank, spec } = this.#options;
    const { inspectEvery = Infinity } = spec;
    const inspects = rank === 0 && (iteration + 1) % inspectEvery === 0;
    const exchange = engine.call('exchange', { iteration, beside, inspects });
    exchange.catch(awaitedLater);
    return exchange;
  }

  async #compute(
    iteration: number,
    into: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedGradient> {
    const { trainer } = this.#options;
    const at = Date.now();
    const start = performance.now();
    trainer.loadBatch(iteration);
    const loaded = performance.now();
    const step = await trainer.computeGradient(into, ready);
    const end = performance.now();
    return { at, step, data: loaded - start, compute: end - loaded };
  }
}

const timeOf = (computed: ComputedGradient | undefined): number =>
  computed === undefined ? 0 : computed.data + computed.compute;
