/**
 * The steps of a measurement: each has its time limit and its own JSON file, written as soon
 * as it ends, whatever becomes of it.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Outcome, StepResult } from './results.ts';

/** A step that has less time left is not begun. */
const LEAST_S = 5;

/** The step that all others need. */
export const DEVICE = 'device';

export class Steps {
  /** The number of steps that failed or were cut. */
  failures = 0;
  readonly #out: string;
  /** The end of all steps, in milliseconds of `Date.now`. */
  readonly #until: number;
  readonly #only: readonly string[];

  /** @param only how the names of steps begin that are to be done */
  constructor(out: string, until: number, only: readonly string[]) {
    this.#out = out;
    this.#until = until;
    this.#only = only;
  }

  /** @param work gets the seconds that it may take */
  async run<T>(
    name: string,
    limit: number,
    work: (seconds: number) => Promise<Outcome<T>>,
  ): Promise<T | undefined> {
    const isWanted = this.#only.some((beginning) => name.startsWith(beginning));
    if (!isWanted && name !== DEVICE) return undefined;
    const start = performance.now();
    const began = new Date().toISOString();
    const seconds = Math.min(limit, (this.#until - Date.now()) / 1000);
    const outcome =
      seconds < LEAST_S
        ? { failure: 'no time was left for it' }
        : await work(seconds).catch((error: unknown) => ({ failure: String(error) }));
    const took = (performance.now() - start) / 1000;
    const file: StepResult<T> = { step: name, began, seconds: took, ...outcome };
    writeFileSync(
      path.join(this.#out, `${name}.json`),
      `${JSON.stringify(file, undefined, 1)}\n`,
    );
    if (file.failure !== undefined) this.failures++;
    const said = file.failure ?? file.skipped ?? 'done';
    console.log(`${name}: ${said.split('\n')[0]!.slice(0, 200)} (${took.toFixed(1)} s)`);
    return file.result;
  }
}
