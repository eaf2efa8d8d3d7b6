/** The trainer threads of a rank that has several; none of them is the worker's own. */
import { Worker } from 'node:worker_threads';
import { failure, GradwireError } from '../../../shared/errors/errors.ts';
import { awaitedElsewhere } from '../../../shared/async/awaited-elsewhere.ts';
import type { Vector } from '../../memory/arena.ts';
import type { TrainerOptions } from '../../training/trainer.ts';
import type { EngineClient } from '../engine/engine-client.ts';
import type { FromThread, ThreadVectors, ToThread } from './thread-messages.ts';
import type { ThreadGradient, TrainerThread } from './trainer-thread.ts';

interface Expected {
  resolve(gradient: ThreadGradient): void;
  reject(error: Error): void;
}

class ThreadBeside {
  readonly #thread: Worker;
  /** Resolves when its data are loaded. */
  readonly ready: Promise<unknown>;
  #expected: Expected | undefined;
  #lost: Error | undefined;
  #closed = false;

  /**
   * @param file of the thread's script: a bundle, or the TypeScript source
   * @param index its number among the rank's trainer threads
   */
  constructor(file: string, options: TrainerOptions, index: number) {
    const ready = Promise.withResolvers<unknown>();
    this.ready = ready.promise;
    const fail = (error: Error): void => {
      if (this.#closed) return;
      this.#lost ??= error;
      ready.reject(this.#lost);
      this.#expected?.reject(this.#lost);
    };
    this.#thread = new Worker(file, { workerData: options });
    this.#thread.on('message', (message: FromThread) => {
      switch (message.type) {
        case 'ready':
          ready.resolve(undefined);
          return;
        case 'computed':
          this.#expected?.resolve(message.gradient);
          return;
        case 'failed':
          fail(new GradwireError(message.error));
          return;
        default:
          message satisfies never;
      }
    });
    this.#thread.on('error', fail);
    this.#thread.on('exit', (code) => {
      const message = `trainer thread ${index} ended with code ${code}`;
      const next =
        'Read the log of the rank: your own model may have ended the thread.';
      fail(failure('TRAINER_LOST', message, { next }));
    });
  }

  /** Lets it compute, in these vectors of the arena. */
  attach(memory: WebAssembly.Memory, vectors: ThreadVectors): TrainerThread {
    this.#post({ type: 'attach', memory, ...vectors });
    return {
      ...vectors,
      compute: (iteration) =>
        new Promise((resolve, reject) => {
          this.#expected = { resolve, reject };
          if (this.#lost === undefined) this.#post({ type: 'compute', iteration });
          else reject(this.#lost);
        }),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread.terminate();
  }

  #post(message: ToThread): void {
    this.#thread.postMessage(message);
  }
}

export class ThreadsBeside {
  readonly #threads: readonly ThreadBeside[];

  /** @param options the options of each thread, and their number */
  constructor(
    file: string,
    { count, ...options }: TrainerOptions & { readonly count: number },
  ) {
    this.#threads = Array.from(
      { length: count },
      (_, index) => new ThreadBeside(file, options, index),
    );
    // The caller of `ready` reports it; this keeps an early failure from being unhandled.
    for (const { ready } of this.#threads) ready.catch(awaitedElsewhere);
  }

  /** Resolves when all can be attached. @throws as `createTrainer` */
  get ready(): Promise<unknown> {
    return Promise.all(this.#threads.map(({ ready }) => ready));
  }

  /** @param length elements of the gradient, and of the weights */
  attach(
    engine: EngineClient,
    memory: WebAssembly.Memory,
    length: number,
  ): Promise<readonly TrainerThread[]> {
    const allocate = async (): Promise<Vector> =>
      (await engine.call('allocate', { length })).vector;
    return Promise.all(
      this.#threads.map(async (thread) => {
        const [weights, gradient] = await Promise.all([allocate(), allocate()]);
        return thread.attach(memory, { weights, gradient });
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}
