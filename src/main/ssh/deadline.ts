/** A deadline that pauses while the user is being asked. */
export class PausableDeadline {
  readonly #expire: () => void;
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #over = false;

  constructor(milliseconds: number, expire: () => void) {
    this.#left = milliseconds;
    this.#expire = expire;
    this.#start();
  }

  /** Pauses the clock until the promise settles. */
  async during<T>(waiting: Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) this.#stop();
    try {
      return await waiting;
    } finally {
      if (--this.#pauses === 0) this.#start();
    }
  }

  clear(): void {
    this.#over = true;
    this.#stop();
  }

  #start(): void {
    if (this.#over) return;
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#left));
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#since;
  }
}
