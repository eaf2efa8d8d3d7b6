/** The trainer's side of the engine: calls it, orders it, closes it. */
import type { ErrorData } from '../../../shared/errors/errors.ts';
import type { RankOrder } from '../../../shared/orders/orders.ts';
import type { EngineLink, OpenEngineLink } from './engine-link.ts';
import type { EngineCall, EngineCalls } from './engine-protocol.ts';

export class EngineClient {
  readonly #link: EngineLink;

  constructor(open: OpenEngineLink) {
    this.#link = open();
  }

  /** @throws GradwireError */
  call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']> {
    return this.#link.call(call, request);
  }

  /** Gives the engine an order to the run. */
  obey(order: RankOrder): void {
    this.#link.order({ type: 'obey', order });
  }

  /** All elements of this iteration's gradient from this one on are ready. */
  advance(iteration: number, from: number): void {
    this.#link.order({ type: 'advance', iteration, from });
  }

  /** The work done during this iteration's exchange is finished. */
  exposed(iteration: number): void {
    const at = performance.timeOrigin + performance.now();
    this.#link.order({ type: 'exposed', iteration, at });
  }

  /** Says that the rank has no more gradients after the next exchange. */
  requestEnd(): void {
    this.#link.order({ type: 'end' });
  }

  /** Begins or ends to trace: exchanges then return their spans and messages. */
  trace(on: boolean): void {
    this.#link.order({ type: 'trace', on });
  }

  abort(error: ErrorData): void {
    this.#link.order({ type: 'abort', error });
  }

  /** Closes sockets in good order, then ends the engine's thread, if any. */
  async close(): Promise<void> {
    await this.call('close', {});
    await this.#link.end();
  }
}
