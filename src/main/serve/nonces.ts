/**
 * Nonces for proofs of the access token: each is good for one proof, for a minute. Any visitor
 * may ask for them, so none is kept until it is used: it has its time in it, and a code by
 * which this server knows it again. Many requests so take no nonce from the user's page.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { sameText } from './same-text.ts';

const LIFETIME_MS = 60_000;

export class Nonces {
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  /** The used ones that have not expired. */
  readonly #used = new Set<string>();

  /** @param now milliseconds of a clock that only goes on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  make(): string {
    const text = `${Math.floor(this.#now())}.${randomBytes(16).toString('base64url')}`;
    return `${text}.${this.#code(text)}`;
  }

  /** Uses a nonce. @returns whether it could be */
  use(nonce: string): boolean {
    for (const used of this.#used) if (this.#isOver(used)) this.#used.delete(used);
    const end = nonce.lastIndexOf('.');
    const isOurs = sameText(nonce.slice(end + 1), this.#code(nonce.slice(0, end)));
    if (!isOurs || this.#isOver(nonce) || this.#used.has(nonce)) return false;
    this.#used.add(nonce);
    return true;
  }

  #isOver(nonce: string): boolean {
    return this.#now() - Number.parseInt(nonce, 10) >= LIFETIME_MS;
  }

  #code(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
