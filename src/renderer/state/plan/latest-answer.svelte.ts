/**
 * The answer to the newest question of a page, asked a moment after the last change. While an
 * answer is awaited only the newest question is kept; answers to others are dropped. One that a lost
 * connection left without an answer is asked again when the connection is back.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { Connection } from '../host/host-connection.ts';

const PAUSE_MS = 150;

export class LatestAnswer<Q, A> {
  readonly #give: (question: Q) => Promise<A>;
  #answer = $state.raw<A>();
  #error = $state.raw<ErrorData>();
  #isAsking = $state(false);
  #next: { readonly question: Q } | undefined;
  /** The newest question, if the connection was lost before its answer came. */
  #lost: { readonly question: Q } | undefined;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** Number of the newest question, or refusal. */
  #number = 0;
  readonly #stop: () => void;

  constructor(connection: Pick<Connection, 'on'>, give: (question: Q) => Promise<A>) {
    this.#give = give;
    this.#stop = connection.on('resync', () => {
      if (this.#lost !== undefined) this.ask(this.#lost.question);
    });
  }

  /** The newest answer; it stays while the next one is awaited. */
  get answer(): A | undefined {
    return this.#answer;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  get isAsking(): boolean {
    return this.#isAsking;
  }

  ask(question: Q): void {
    this.#number += 1;
    this.#lost = undefined;
    this.#next = { question };
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => void this.#send(), PAUSE_MS);
  }

  /** Shows why there is no question to ask. */
  refuse(error: ErrorData): void {
    this.#number += 1;
    clearTimeout(this.#waiting);
    this.#lost = undefined;
    this.#next = undefined;
    this.#error = error;
  }

  close(): void {
    this.#stop();
    this.#number += 1;
    this.#next = undefined;
    clearTimeout(this.#waiting);
  }

  async #send(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#next !== undefined) {
        const { question } = this.#next;
        this.#next = undefined;
        await this.#take(question);
      }
    } finally {
      this.#isAsking = false;
    }
  }

  async #take(question: Q): Promise<void> {
    const mine = this.#number;
    try {
      const answer = await this.#give(question);
      if (mine !== this.#number) return;
      this.#answer = answer;
      this.#error = undefined;
    } catch (thrown) {
      if (mine !== this.#number) return;
      this.#error = toErrorData(thrown);
      if (this.#error.code === 'CONNECTION_LOST') this.#lost = { question };
    }
  }
}
