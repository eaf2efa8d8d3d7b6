/** The trainer thread's side of the engine thread: starts it, calls it, closes it. */
import { Worker } from 'node:worker_threads';
import { failure, GradwireError, type ErrorData } from '../../shared/errors.ts';
import type { PlanSwitch } from '../../shared/exchange-plan.ts';
import type {
  EngineCall,
  EngineCalls,
  FromEngine,
  ToEngine,
} from './engine-protocol.ts';

interface Pending {
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

export class EngineClient {
  readonly #thread: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #lost: Error | undefined;

  /** @param file the engine thread's entry: a bundle, or the TypeScript source */
  constructor(file: URL) {
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

  learn(planSwitch: PlanSwitch): void {
    this.#post({ type: 'learn', planSwitch });
  }

  requestStop(): void {
    this.#post({ type: 'stop' });
  }

  abort(error: ErrorData): void {
    this.#post({ type: 'abort', error });
  }

  /** Close sockets in good order, then end the thread. */
  async close(): Promise<void> {
    await this.call('close', {});
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
