/**
 * Runs a method on the gradient of one bucket: drives its steps, moves the gradient to
 * the method's site and the average back, and releases its memory. Exchanges use every
 * compressor through this class, on any backend.
 */
import type { JsonObject } from '../../shared/checks/json.ts';
import type { Region } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { isSteps, run, type Answer, type Resume } from '../work/steps.ts';
import type { Work } from '../work/work.ts';
import { restoreState, saveState } from './kept-state.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';

export interface BucketSetup<V> {
  readonly method: MethodDefinition;
  /** The compressor's context; the method's schema has validated its parameters. */
  readonly context: CompressorContext<JsonObject, V>;
  /** The bucket's gradient, and the average over ranks. */
  readonly gradient: V;
  readonly moves?: Moves | undefined;
}

/** Steps before and after the compressor has the bucket's gradient. */
export interface Moves extends Partial<Disposable> {
  /**
   * Begins an exchange and returns the first element that is not finite.
   * @param seen whether there is none, or `encode` looks for it
   */
  begin?(seen: boolean): Answer<NotFiniteElement | undefined>;
  /** Loads the gradient, before `encode` and `exchange`. */
  load?(): Answer<void>;
  /** Stores the average, after `decode` and `exchange`. */
  store?(): Answer<void>;
  /** The square of the norm of the gradient with the residual added, after `begin`. */
  wanted?(): number;
  /** The state, residual included, is no longer the one that the last `store` left. */
  restored?(): void;
}

/** An element of a bucket that is NaN or infinite. */
export interface NotFiniteElement {
  readonly index: number;
  readonly value: number;
}

/** The interface for exchanges, independent of where the vectors are stored. */
export type GradientBucket = Pick<
  BucketCompressor<unknown>,
  | 'begin'
  | 'encode'
  | 'decode'
  | 'talks'
  | 'wanted'
  | 'exchange'
  | 'parse'
  | 'save'
  | 'restore'
> &
  Disposable;

export class BucketCompressor<V> implements Disposable {
  readonly #method: string;
  readonly #compressor: Compressor<V>;
  readonly #gradient: V;
  readonly #moves: Moves;
  readonly #work: Work<V>;

  /**
   * Takes over the work.
   * @throws BeyondDevice
   */
  constructor({ method, context, gradient, moves = {} }: BucketSetup<V>) {
    this.#method = method.id;
    this.#gradient = gradient;
    this.#moves = moves;
    this.#work = context.work;
    try {
      this.#compressor = method.create(context);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Whether an exchange is more than `encode`, one message and `decode`. */
  get talks(): boolean {
    return this.#compressor.exchange !== undefined;
  }

  /**
   * ‖p‖² of what is to be sent, gradient and residual together, once an exchange has begun. Costs a
   * pass over both. Undefined where the method keeps no residual in units of gradients, or on a GPU.
   */
  get wanted(): number | undefined {
    return this.#moves.wanted?.();
  }

  /**
   * Begins an exchange and returns the first element that is not finite, unless all are known to
   * be. `encode` may still throw `NotFiniteInput`, because some methods check as they compress.
   */
  begin(isFinite = false): Answer<NotFiniteElement | undefined> {
    return this.#moves.begin?.(isFinite || this.#compressor.refusesNotFinite === true);
  }

  encode(iteration: number): Answer<Payload> {
    const loaded = this.#moves.load?.();
    return loaded instanceof Promise
      ? loaded.then(() => this.#encode(iteration))
      : this.#encode(iteration);
  }

  /** The average over ranks, in place of the bucket's gradient. */
  decode(combined: Combined, iteration: number): Answer<ExchangeStatistics> {
    const statistics = this.#compressor.decode(combined, this.#gradient, iteration);
    const stored = this.#moves.store?.();
    return stored instanceof Promise ? stored.then(() => statistics) : statistics;
  }

  /**
   * Compresses and exchanges with a method of several rounds.
   * @param resume wraps each stretch of work between two waits
   */
  async exchange(
    iteration: number,
    communicate: Communicate,
    resume?: Resume,
  ): Promise<ExchangeStatistics> {
    await this.#moves.load?.();
    const steps = this.#compressor.exchange!(this.#gradient, iteration, communicate);
    const statistics = await run(steps, resume);
    await this.#moves.store?.();
    return statistics;
  }

  /** @throws GradwireError `PAYLOAD_INVALID` */
  parse(data: Region, iteration: number): Payload {
    return this.#compressor.parse(data, iteration);
  }

  /** The method's state except the residual, between two exchanges. */
  save(): Answer<Uint8Array> {
    return saveState(this.#compressor);
  }

  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restore(state: Uint8Array): void {
    restoreState(this.#method, this.#compressor, state);
    this.#moves.restored?.();
  }

  [Symbol.dispose](): void {
    this.#work[Symbol.dispose]();
    this.#moves[Symbol.dispose]?.();
  }

  #encode(iteration: number): Answer<Payload> {
    const encoded = this.#compressor.encode(this.#gradient, iteration);
    return isSteps(encoded) ? run(encoded) : encoded;
  }
}
