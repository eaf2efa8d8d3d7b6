/** The trainer's side of the engine: calls it, orders it, closes it. */
import { GradwireError, type ErrorData } from '../../../shared/errors.ts';
import type { PlanSwitch } from '../../../shared/exchange-plan.ts';
import type { EngineLink, OpenEngineLink } from './engine-link.ts';
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
  readonly #link: EngineLink;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #lost: Error | undefined;

  constructor(open: OpenEngineLink) {
    this.#link = open({
      message: (message) => {
        this.#settle(message);
      },
      lost: (error) => {
        this.#fail(error);
      },
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
      this.#link.post({ type: 'call', id, call, request } as ToEngine);
    });
  }

  learn(planSwitch: PlanSwitch): void {
    this.#link.post({ type: 'learn', planSwitch });
  }

  /** All elements of this iteration's gradient from this one on are ready. */
  advance(iteration: number, from: number): void {
    this.#link.post({ type: 'advance', iteration, from });
  }

  /** The work done during this iteration's exchange is finished. */
  exposed(iteration: number): void {
    const at = performance.timeOrigin + performance.now();
    this.#link.post({ type: 'exposed', iteration, at });
  }

  requestStop(): void {
    this.#link.post({ type: 'stop' });
  }

  requestPause(): void {
    this.#link.post({ type: 'pause' });
  }

  abort(error: ErrorData): void {
    this.#link.post({ type: 'abort', error });
  }

  /** Closes sockets in good order, then ends the engine's thread, if any. */
  async close(): Promise<void> {
    await this.call('close', {});
    await this.#link.end();
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
