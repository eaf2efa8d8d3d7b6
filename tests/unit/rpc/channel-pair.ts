/**
 * Both ends of a channel inside one process: ordered, asynchronous like a socket, text
 * only. Lets the real session and the real connection talk to each other.
 */
import type { RpcChannel } from '../../../src/shared/rpc/rpc-wire.ts';

class End implements RpcChannel {
  other: End | undefined;
  closedFor: string | undefined;
  /** While held, messages towards this end wait: a page that does not keep up. */
  held = false;
  readonly #waiting: string[] = [];
  #listener: ((text: unknown) => void) | undefined;
  readonly #onClose: (() => void)[] = [];

  post(text: string): void {
    if (this.closedFor === undefined) this.other?.receive(text);
  }

  receive(text: string): void {
    this.#waiting.push(text);
    queueMicrotask(() => this.drain());
  }

  drain(): void {
    while (!this.held && this.#listener !== undefined && this.#waiting.length > 0) {
      this.#listener(this.#waiting.shift()!);
    }
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  onMessage(listener: (text: unknown) => void): void {
    this.#listener = listener;
    this.drain();
  }

  onClose(listener: () => void): void {
    if (this.closedFor === undefined) this.#onClose.push(listener);
    else listener();
  }

  close(reason = 'done'): void {
    if (this.closedFor !== undefined) return;
    this.closedFor = reason;
    this.other?.close(reason);
    for (const listener of this.#onClose) listener();
  }
}

export function channelPair(): { readonly host: End; readonly page: End } {
  const host = new End();
  const page = new End();
  host.other = page;
  page.other = host;
  return { host, page };
}
