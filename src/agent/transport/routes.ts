/**
 * Several addresses of one peer; the first that works is used. Attempts begin in order of
 * likelihood, each when the previous one has failed or has not answered for a moment. A
 * route works once the peer has authenticated, so a stranger at the same private address
 * is skipped. The final error says which routes failed, and why.
 *
 * Source: Happy Eyeballs (RFC 8305), without its resolver.
 */
import { GradwireError } from '../../shared/errors/errors.ts';

/** Time between two attempts, as RFC 8305 recommends. */
const STAGGER_MS = 250;
/** Time for a lost packet to be resent before a much slower route is tried. */
const LAST_RESORT_MS = 4000;

export interface Route<T> {
  readonly host: string;
  readonly value: T;
}

export class Routes<T> {
  readonly #hosts: readonly string[];
  readonly #attempt: (host: string) => Promise<T>;
  readonly #lastResort: string | undefined;
  readonly #outcomes = new Map<string, string>();
  readonly #errors: unknown[] = [];
  readonly #found = Promise.withResolvers<Route<T>>();
  #settled = false;
  /** Runs until the next attempt begins. */
  #timer: NodeJS.Timeout | undefined;
  #next = 0;

  /**
   * @param hosts at least one, the most likely first
   * @param lastResort tried when all of them have failed, or none has answered for seconds
   */
  constructor(
    hosts: readonly string[],
    attempt: (host: string) => Promise<T>,
    lastResort?: string,
  ) {
    this.#hosts = [
      ...new Set(hosts),
      ...(lastResort === undefined ? [] : [lastResort]),
    ];
    this.#attempt = attempt;
    this.#lastResort = lastResort;
  }

  /**
   * The first that works.
   * @throws what the only attempt threw, or `undefined` if several failed: `tried` says
   * how
   */
  find(): Promise<Route<T>> {
    this.#begin();
    return this.#found.promise;
  }

  /**
   * Each address that was tried, and its result: `10.0.0.1: no answer, 10.1.0.1:
   * ECONNREFUSED`.
   */
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
    clearTimeout(this.#timer);
    const host = this.#hosts[this.#next];
    if (this.#settled || host === undefined) return;
    this.#next++;
    this.#timer = setTimeout(
      () => {
        this.#begin();
      },
      this.#isLastResortNext ? LAST_RESORT_MS : STAGGER_MS,
    );
    this.#attempt(host).then(
      (value) => {
        clearTimeout(this.#timer);
        this.#settled = true;
        this.#found.resolve({ host, value });
      },
      (error: unknown) => {
        this.#outcomes.set(host, textOf(error));
        this.#errors.push(error);
        if (this.#errors.length === this.#hosts.length) {
          clearTimeout(this.#timer);
          this.#found.reject(this.several ? undefined : error);
        } else if (this.#mayBegin(host)) this.#begin();
      },
    );
  }

  get #isLastResortNext(): boolean {
    const next = this.#hosts[this.#next];
    return next !== undefined && next === this.#lastResort;
  }

  /** Whether the next attempt begins now that this one has failed. */
  #mayBegin(failed: string): boolean {
    return this.#isLastResortNext
      ? this.#errors.length === this.#next
      : this.#hosts[this.#next - 1] === failed;
  }
}

/** Describes the error of one address in a list: the code of the system's error says enough. */
function textOf(error: unknown): string {
  if (!(error instanceof GradwireError)) return String(error);
  const { cause, message } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : message;
}
