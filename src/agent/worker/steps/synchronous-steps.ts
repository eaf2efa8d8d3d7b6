/**
 * Synchronous data parallelism: all ranks exchange and apply the gradient of each iteration.
 * The exchange follows the gradient, begins while it is being computed (`overlap`), or runs
 * during the next one (`doubleBuffer`).
 */
import { awaitedElsewhere } from '../../../shared/async/awaited-elsewhere.ts';
import type { ExchangeRequest } from '../../exchange/exchange-calls.ts';
import type { GradientMemory } from '../../training/trainer.ts';
import type { EngineCalls } from '../engine/engine-protocol.ts';
import { BatchGradients, type ComputedGradient } from '../trainers/batch-gradients.ts';
import { isDue, type Steps, type StepsOptions, type TakenStep } from './steps.ts';

export interface SynchronousStepsOptions extends StepsOptions {
  /** The flat gradient: the trainer writes it, the engine reads it. */
  readonly gradient: GradientMemory;
}

/** An exchanged gradient that is not applied yet. */
type ExchangedStep = Omit<TakenStep, 'apply' | 'applied'>;

export class SynchronousSteps implements Steps {
  readonly #options: SynchronousStepsOptions;
  readonly #gradients: BatchGradients;
  readonly state = [];
  /** The next iteration's gradient, if already computed. */
  #ahead: ComputedGradient | undefined;
  #memoryAhead: Float32Array | undefined;

  constructor(options: SynchronousStepsOptions) {
    this.#options = options;
    this.#gradients = new BatchGradients(options.trainer);
  }

  get exchanged(): Float32Array | undefined {
    const { gradient } = this.#options;
    return gradient instanceof Float32Array ? gradient : undefined;
  }

  since(iteration: number): number {
    return iteration;
  }

  exchangesIn(): boolean {
    return true;
  }

  async take(iteration: number, compares: boolean): Promise<TakenStep> {
    const { gradient, requireFinite, trainer } = this.#options;
    const exchanged = await this.#exchanged(iteration, compares);
    // After the exchange, whose error says more: where a gradient is not finite, and on
    // which rank.
    requireFinite(exchanged.step, iteration);
    const start = performance.now();
    await trainer.applyGradient(gradient, iteration);
    const end = performance.now();
    return { ...exchanged, apply: end - start, applied: [[start, end]] };
  }

  /** The previous exchange's average has been applied. */
  async #exchanged(iteration: number, compares: boolean): Promise<ExchangedStep> {
    const { comparison, engine, gradient, spec } = this.#options;
    if (spec.overlap === true && !compares) {
      const exchange = this.#exchange(iteration, { beside: 'backward' });
      const computed = await this.#gradients.compute(iteration, gradient, (from) => {
        engine.advance(iteration, from);
      });
      engine.exposed(iteration);
      this.#loadNext(iteration);
      return { ...computed, exchange: await exchange, staleness: 0, elsewhere: 0 };
    }
    const ahead = this.#takeAhead();
    const computed = ahead ?? (await this.#gradients.compute(iteration, gradient));
    // The comparison needs the vector on the host.
    if (compares) await comparison.keep(gradient as Float32Array);
    const staleness = ahead === undefined ? 0 : 1;
    if (!this.#looksAhead(iteration + 1)) {
      const { isFinite } = computed.step;
      const exchange = this.#exchange(iteration, { isFinite });
      this.#loadNext(iteration);
      return {
        ...computed,
        exchange: await exchange,
        staleness,
        elsewhere: timeOf(ahead),
      };
    }
    const exchange = this.#exchange(iteration, { beside: 'next' });
    this.#ahead = await this.#gradients.compute(iteration + 1, this.#nextMemory);
    engine.exposed(iteration);
    const elsewhere = timeOf(ahead) - timeOf(this.#ahead);
    return { ...computed, exchange: await exchange, staleness, elsewhere };
  }

  /** Checkpoints contain no gradients, so none is computed ahead of one. */
  #looksAhead(iteration: number): boolean {
    const { checkpoints, spec } = this.#options;
    const { doubleBuffer, iterations } = spec;
    if (doubleBuffer !== true || iteration === iterations) return false;
    return checkpoints?.isDue(iteration) !== true;
  }

  /** Takes the gradient computed ahead into the engine's input vector. */
  #takeAhead(): ComputedGradient | undefined {
    const ahead = this.#ahead;
    if (ahead === undefined) return undefined;
    // It is defined: an exchange that overlaps computing is on the host.
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
    how: Pick<ExchangeRequest, 'beside' | 'isFinite'>,
  ): Promise<EngineCalls['exchange']['reply']> {
    const { engine, rank, spec, trainer } = this.#options;
    const due = isDue(spec.inspectEvery, { since: iteration, iteration });
    const inspects = rank === 0 && due;
    const rate = trainer.learningRate(iteration);
    const exchange = engine.call('exchange', { iteration, ...how, inspects, lr: rate });
    exchange.catch(awaitedElsewhere);
    return exchange;
  }

  /** Loads the next batch while this rank waits for the others. */
  #loadNext(iteration: number): void {
    const next = iteration + 1;
    if (next < this.#options.spec.iterations) this.#gradients.loadSoon(next);
  }
}

const timeOf = (computed: ComputedGradient | undefined): number =>
  computed === undefined ? 0 : computed.data + computed.compute;
