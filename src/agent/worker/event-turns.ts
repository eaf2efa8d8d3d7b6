/**
 * Lets a rank's event loop turn while it trains. Orders are read and records are sent there. It turns
 * whenever the rank waits for others; without this the loop of a rank that is alone on its thread, or
 * between two exchanges, would turn only at the end, and a stop would not be obeyed before.
 */
const MOST_MS = 20;

export class EventTurns {
  #turned = performance.now();

  /**
   * Turns the event loop if this has not been done for a while; otherwise returns undefined.
   * @param now the time, by `performance.now`
   */
  take(now: number): Promise<void> | undefined {
    if (now - this.#turned < MOST_MS) return undefined;
    this.#turned = now;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
