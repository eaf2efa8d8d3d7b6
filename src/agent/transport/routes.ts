/**
 * Several ways to one peer, of which the first that works is taken: attempts begin in order
 * of likelihood, the next when the one before has failed or has not answered for a moment.
 * That it works means that the peer has proved who it is: a stranger at the same private
 * address is passed over. Which fails, and why, is told in the end.
 *
 * Source: Happy Eyeballs (RFC 8305), without its resolver.
 */
import { GradwireError } from '../../shared/errors.ts';

/** As RFC 8305 recommends. */
const STAGGER_MS = 250;

export interface Route<T> {
  readonly host: string;
  readonly value: T;
}

export class Routes<T> {
  readonly #hosts: readonly string[];
  readonly #attempt: (host: string) => Promise<T>;
  readonly #outcomes = new Map<string, string>();
  readonly #errors: unknown[] = [];
  readonly #found = Promise.withResolvers<Route<T>>();
  #settled = false;
  #next = 0;

  /** @param hosts at least one, the most likely first */
  constructor(hosts: readonly string[], attempt: (host: string) => Promise<T>) {
    this.#hosts = [...new Set(hosts)];
    this.#attempt = attempt;
  }

  /**
   * The first that works.
   * @throws what the only attempt threw, or `undefined` where several failed: `tried` says how
   */
  find(): Promise<Route<T>> {
    this.#begin();
    return this.#found.promise;
  }

  /** Each that was tried and what came of it: `10.0.0.1: no answer, 10.1.0.1: ECONNREFUSED`. */
  get tried(): string {
    return this.#hosts
      .slice(0, this.#next)
      .map((host) => `${host}: ${this.#outcomes.get(host) ?? 'no answer'}`)
      .join(', ');
  }

  get several(): boolean {
    return this.#hosts.length > 1;
  }

  #begin(): void {
    const host = this.#hosts[this.#next];
    if (this.#settled || host === undefined) return;
    const turn = ++this.#next;
    const timer = setTimeout(() => {
      if (this.#next === turn) this.#begin();
    }, STAGGER_MS);
    this.#attempt(host).then(
      (value) => {
        clearTimeout(timer);
        this.#settled = true;
        this.#found.resolve({ host, value });
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#outcomes.set(host, textOf(error));
        this.#errors.push(error);
        if (this.#errors.length === this.#hosts.length) {
          this.#found.reject(this.several ? undefined : error);
        } else if (this.#next === turn) this.#begin();
      },
    );
  }
}

const textOf = (error: unknown): string =>
  error instanceof GradwireError ? error.message : String(error);
