/**
 * Links the trainer to the engine, which runs on its own thread or on the trainer's. On its own
 * thread, communication continues while the trainer computes. On the trainer's thread, nothing has
 * to be handed over: if a node has fewer than two cores per rank, a woken thread waits for a time
 * slice behind some rank's computing, several milliseconds in an iteration of ten
 * (docs/decisions/004-one-thread-on-crowded-nodes.md). A GPU's queue belongs to one thread, so an
 * engine that works on the trainer's GPU runs on the trainer's thread as well
 * (docs/decisions/013-gradients-stay-on-the-gpu.md).
 */
import { Worker } from 'node:worker_threads';
import { failure, GradwireError } from '../../../shared/errors/errors.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import { EngineHost } from './engine-host.ts';
import type {
  EngineCall,
  EngineCalls,
  EngineOrder,
  FromEngine,
  ToEngine,
} from './engine-protocol.ts';

export interface EngineLink {
  call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']>;
  order(order: EngineOrder): void;
  /** Ends the engine's thread, once the engine has closed its sockets. */
  end(): Promise<void>;
}

export type OpenEngineLink = () => EngineLink;

/** @param file the engine thread's entry: a bundle, or the TypeScript source */
export function threadLink(file: string | URL): OpenEngineLink {
  return () => new ThreadLink(file);
}

/**
 * Links to an engine on the trainer's thread. `gradient`: the one on its GPU, requested when the
 * engine connects; undefined leaves it in the arena.
 */
export function gpuLink(gradient: () => GpuGradient | undefined): OpenEngineLink {
  return () => {
    const host = new EngineHost(gradient);
    return {
      call: (call, request) => host.call(call, request),
      order: (order) => {
        host.order(order);
      },
      end: () => Promise.resolve(),
    };
  };
}

interface PendingCall {
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

class ThreadLink implements EngineLink {
  readonly #thread: Worker;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;
  #lost: Error | undefined;

  constructor(file: string | URL) {
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

  call<C extends EngineCall>(
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

  order(order: EngineOrder): void {
    this.#post(order);
  }

  async end(): Promise<void> {
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
