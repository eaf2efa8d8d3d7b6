/**
 * The trainer's side of the engine, which runs on its own thread or on the trainer's. On its own
 * thread, communication continues while the trainer computes. On the trainer's thread, nothing has
 * to be handed over: if a node has fewer than two cores per rank, a woken thread waits for a time
 * slice behind some rank's computing, several milliseconds in an iteration of ten
 * (docs/decisions/004-one-thread-on-crowded-nodes.md). A GPU's queue belongs to one thread, so an
 * engine that works on the trainer's GPU runs on the trainer's thread as well
 * (docs/decisions/013-gradients-stay-on-the-gpu.md).
 */
import { Worker } from 'node:worker_threads';
import {
  failure,
  GradwireError,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import type { RankOrder } from '../../../shared/orders/orders.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import { EngineHost } from './engine-host.ts';
import type {
  EngineCall,
  EngineCalls,
  EngineOrder,
  FromEngine,
  ToEngine,
} from './engine-protocol.ts';

export abstract class EngineClient {
  /** @throws GradwireError */
  abstract call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']>;

  protected abstract order(order: EngineOrder): void;

  /** Ends the engine's thread, if any, once the engine has closed its sockets. */
  protected abstract end(): Promise<void>;

  /** Gives the engine an order to the run. */
  obey(order: RankOrder): void {
    this.order({ type: 'obey', order });
  }

  /** All elements of this iteration's gradient from this one on are ready. */
  advance(iteration: number, from: number): void {
    this.order({ type: 'advance', iteration, from });
  }

  /** The work done during this iteration's exchange is finished. */
  exposed(iteration: number): void {
    const at = performance.timeOrigin + performance.now();
    this.order({ type: 'exposed', iteration, at });
  }

  /** Says that the rank has no more gradients after the next exchange. */
  requestEnd(): void {
    this.order({ type: 'end' });
  }

  /** Begins or ends to trace: exchanges then return their spans and messages. */
  trace(on: boolean): void {
    this.order({ type: 'trace', on });
  }

  abort(error: ErrorData): void {
    this.order({ type: 'abort', error });
  }

  /** Closes sockets in good order, then ends the engine's thread, if any. */
  async close(): Promise<void> {
    await this.call('close', {});
    await this.end();
  }
}

/** An engine on the trainer's thread. */
export class EngineHere extends EngineClient {
  readonly #host: EngineHost;

  /**
   * @param gradient the one on the trainer's GPU, requested when the engine connects; undefined
   * leaves it in the arena
   */
  constructor(gradient: () => GpuGradient | undefined) {
    super();
    this.#host = new EngineHost(gradient);
  }

  override call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']> {
    return this.#host.call(call, request);
  }

  protected override order(order: EngineOrder): void {
    this.#host.order(order);
  }

  protected override end(): Promise<void> {
    return Promise.resolve();
  }
}

interface PendingCall {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An engine on its own thread. */
export class EngineOnThread extends EngineClient {
  readonly #thread: Worker;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;
  #lost: Error | undefined;

  /** @param file the engine thread's entry: a bundle, or the TypeScript source */
  constructor(file: string | URL) {
    super();
    this.#thread = new Worker(file);
    this.#thread.on('message', (message: FromEngine) => {
      this.#settle(message);
    });
    this.#thread.on('error', (error) => {
      this.#fail(error);
    });
    this.#thread.on('exit', () => {
      this.#fail(failure('ENGINE_LOST', 'the engine thread ended'));
    });
  }

  override call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {
        resolve: (reply) => {
          resolve(reply as EngineCalls[C]['reply']);
        },
        reject,
      });
      this.#post({ type: 'call', id, call, request } as ToEngine);
    });
  }

  protected override order(order: EngineOrder): void {
    this.#post(order);
  }

  protected override async end(): Promise<void> {
    await this.#thread.terminate();
  }

  #post(message: ToEngine): void {
    this.#thread.postMessage(message);
  }

  #settle(message: FromEngine): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) throw new Error(`internal: reply to call ${message.id}`);
    this.#pending.delete(message.id);
    if (message.type === 'reply') pending.resolve(message.reply);
    else pending.reject(new GradwireError(message.error));
  }

  #fail(error: Error): void {
    this.#lost ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
