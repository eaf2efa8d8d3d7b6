/**
 * A rank's work from one meeting of all ranks to the next: each of its trainer threads
 * computes a gradient, has it pushed, asks for weights and continues, independently of the
 * others; then the rank meets the others.
 */
import { awaitedElsewhere } from '../../../shared/async/awaited-elsewhere.ts';
import type { Asked, PushResult } from '../../exchange/exchange-calls.ts';
import type { ExchangeProfile } from '../../profile/phase-clock.ts';
import { zeroPhases } from '../../../shared/records/phases.ts';
import type { StepResult } from '../../training/trainer.ts';
import type { EngineClient } from '../engine/engine-client.ts';
import type { EngineCalls } from '../engine/engine-protocol.ts';
import type { ThreadGradient, TrainerThread } from '../trainers/trainer-thread.ts';
import { IterationOrder, type IterationOrderOptions } from './iteration-order.ts';

export interface RoundOptions extends IterationOrderOptions {
  readonly engine: Pick<EngineClient, 'call'>;
  readonly threads: readonly TrainerThread[];
  /** Throws if a loss is not finite; then its thread stops. */
  readonly requireFinite: (step: StepResult, iteration: number) => void;
  readonly learningRate: (iteration: number) => number;
  readonly inspects: (iteration: number) => boolean;
}

export interface PushedIteration {
  readonly gradient: ThreadGradient;
  readonly push: PushResult;
  /** The thread that computed it. */
  readonly thread: number;
  /** Staleness of the weights that it was computed with. */
  readonly staleness: number;
  /** When its thread began and finished it, ms. */
  readonly began: number;
  readonly ended: number;
  /** Profiles of the thread's waits besides its push. */
  readonly waits: readonly ExchangeProfile[];
}

export type Meeting = EngineCalls['meet']['reply'];

/** An iteration with its weights. */
interface Begun {
  readonly iteration: number;
  readonly staleness: number;
}

/** A pending request. */
interface Question {
  readonly iteration: number;
  readonly reply: Promise<Asked>;
}

export class AsynchronousRound {
  readonly #options: RoundOptions;
  readonly #order: IterationOrder;
  readonly #pushed = new Map<number, PushedIteration>();
  /** Threads that may not begin yet, the oldest first. */
  readonly #parked: ((iteration: number | undefined) => void)[] = [];
  /** All earlier iterations have begun. */
  #begun: number;
  #met: Meeting | undefined;
  #failure: { readonly error: unknown } | undefined;
  #changed: PromiseWithResolvers<unknown> = Promise.withResolvers();

  constructor(options: RoundOptions) {
    this.#options = options;
    this.#order = new IterationOrder(options);
    this.#begun = options.first;
    this.#run().catch((error: unknown) => {
      this.#failure ??= { error };
      this.#tell();
    });
  }

  /**
   * Resolves when this iteration has been pushed and the next step is certain: another
   * iteration, or a meeting, which is then over.
   * @throws the failure of any of the threads
   */
  async finished(
    iteration: number,
  ): Promise<{ readonly pushed: PushedIteration; readonly met: Meeting | undefined }> {
    for (;;) {
      const pushed = this.#pushed.get(iteration);
      const met = iteration + 1 === this.#order.meeting ? this.#met : undefined;
      if (pushed !== undefined && (met !== undefined || this.#begun > iteration + 1)) {
        this.#pushed.delete(iteration);
        return { pushed, met };
      }
      // Iterations pushed before the failure are returned first.
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#changed.promise;
    }
  }

  async #run(): Promise<void> {
    const { engine, first, threads } = this.#options;
    await Promise.all(
      threads.map(async (thread, index) => {
        const iteration = this.#order.next();
        if (iteration === undefined) return;
        this.#begins(iteration);
        let begun: Begun | undefined = { iteration, staleness: iteration - first };
        while (begun !== undefined) begun = await this.#take(thread, index, begun);
      }),
    );
    this.#met = await engine.call('meet', { iteration: this.#order.meeting! });
    this.#tell();
  }

  /** @returns the thread's next iteration; undefined if all ranks meet */
  async #take(
    thread: TrainerThread,
    index: number,
    { iteration, staleness }: Begun,
  ): Promise<Begun | undefined> {
    const { engine, inspects, learningRate, requireFinite, threads } = this.#options;
    const began = performance.now();
    const gradient = await thread.compute(iteration);
    const computed = performance.now();
    this.#order.pushed(iteration);
    const next = this.#order.next();
    const pushing = engine.call('push', {
      iteration,
      lr: learningRate(iteration),
      gradient: thread.gradient,
      asks: next === undefined ? undefined : { iteration: next, into: thread.weights },
      inspects: inspects(iteration),
    });
    // Requests of other threads now follow that push, on which they depend.
    const asking = next === undefined ? this.#park(thread) : undefined;
    this.#wake();
    const { result: push } = await pushing;
    requireFinite(gradient.step, iteration);
    let asked = next === undefined ? undefined : answered(next, push.asked!);
    const question = await asking;
    if (question !== undefined) {
      asked = answered(question.iteration, await question.reply);
    }
    const ended = performance.now();
    // Waits for the engine, which may be busy with another thread's gradient, for weights,
    // and for permission to begin.
    const idle = ended - computed - push.profile.wall;
    const waits = threads.length > 1 ? [waited(Math.max(0, idle))] : [];
    this.#pushed.set(iteration, {
      gradient,
      push,
      thread: index,
      staleness,
      waits,
      began,
      ended,
    });
    if (asked?.begun !== undefined) {
      this.#begins(asked.iteration);
    } else if (asked !== undefined) {
      this.#order.meetBefore(asked.iteration);
      this.#wake();
    }
    this.#tell();
    return asked?.begun;
  }

  /** Parks a thread that may not begin yet; resolves with its next request. */
  async #park(thread: TrainerThread): Promise<Question | undefined> {
    const iteration = await new Promise<number | undefined>((resolve) => {
      this.#parked.push(resolve);
    });
    if (iteration === undefined) return undefined;
    const request = { iteration, into: thread.weights };
    const reply = this.#options.engine.call('ask', request);
    reply.catch(awaitedElsewhere);
    return { iteration, reply };
  }

  /** Lets parked threads continue, as far as they may. */
  #wake(): void {
    while (this.#parked.length > 0) {
      const iteration = this.#order.next();
      if (iteration === undefined && this.#order.meeting === undefined) return;
      this.#parked.shift()!(iteration);
    }
  }

  #begins(iteration: number): void {
    this.#begun = Math.max(this.#begun, iteration + 1);
  }

  #tell(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
  }
}

const answered = (
  iteration: number,
  asked: Asked,
): { readonly iteration: number; readonly begun: Begun | undefined } => ({
  iteration,
  begun: asked.begins ? { iteration, staleness: asked.staleness } : undefined,
});

/** Waiting time as a profile. */
export const waited = (wait: number): ExchangeProfile => ({
  phases: { ...zeroPhases(), wait },
  waitedFor: {},
  overlapped: 0,
  wall: wait,
});
