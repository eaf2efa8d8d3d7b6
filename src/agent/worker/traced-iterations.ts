/** Iterations that are traced: as many as all ranks have agreed on, from the next one on. */
import type { Notice } from '../../shared/records/notice.ts';

export class TracedIterations {
  #left = 0;
  #first = 0;

  /** Whether the next iteration is traced. */
  get isOn(): boolean {
    return this.#left > 0;
  }

  /**
   * Counts an iteration.
   * @param agreed iterations to trace after it; 0: no more than before
   * @returns a notice if it was the last one traced
   */
  passed(iteration: number, agreed: number): Notice | undefined {
    const wasOn = this.isOn;
    if (wasOn) this.#left--;
    if (agreed > 0 && !this.isOn) this.#first = wasOn ? this.#first : iteration + 1;
    this.#left = Math.max(this.#left, agreed);
    if (!wasOn || this.isOn) return undefined;
    return tracedNotice(this.#first, iteration);
  }
}

/** Tells that these iterations were traced, the last one included. */
export function tracedNotice(first: number, last: number): Notice {
  const what = first === last ? `iteration ${last}` : `iterations ${first} to ${last}`;
  return { level: 'info', code: 'TRACED', message: `traced ${what}` };
}
