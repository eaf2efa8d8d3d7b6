/**
 * An exchange that all ranks take back if the gradient of any of them was not finite: residual and
 * methods' state are then as they were before it. The ranks agree on that while their last bucket
 * travels.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { SiteUndo } from '../sites/gradient-site.ts';
import type { SkippedExchange } from './exchange-calls.ts';
import { notFiniteError, type NotFinite } from './not-finite.ts';
import type { PlanExecution } from './plan-execution.ts';

/** Above all ranks. */
const NO_RANK = 2 ** 31;

export interface SkippableOptions {
  readonly execution: PlanExecution;
  readonly undo: SiteUndo;
  /** Elements of the gradient. */
  readonly length: number;
  readonly rank: number;
  /** The least of a number over ranks. */
  readonly least: (value: number) => Promise<number>;
}

export class SkippableExchange {
  readonly #options: SkippableOptions;
  readonly #restore: () => void;
  #found: NotFinite | undefined;
  #first: Promise<number> | undefined;

  private constructor(options: SkippableOptions, restore: () => void) {
    this.#options = options;
    this.#restore = restore;
  }

  /** Keeps what the exchange will change. */
  static async begin(options: SkippableOptions): Promise<SkippableExchange> {
    options.undo.remember();
    return new SkippableExchange(options, await options.execution.keep());
  }

  /** Takes what this rank has found to be not finite, if anything, and asks the others. */
  readonly checked = (found: NotFinite | undefined): void => {
    const { least, rank } = this.#options;
    this.#found = found;
    this.#first = least(found === undefined ? NO_RANK : rank);
    this.#first.catch(awaitedElsewhere);
  };

  /** Takes the exchange back if it has to be, once all buckets are there. */
  async end(): Promise<SkippedExchange | undefined> {
    const first = await this.#first!;
    if (first === NO_RANK) return undefined;
    const { execution, length, rank, undo } = this.#options;
    undo.recall([{ start: 0, length }]);
    this.#restore();
    const own = first === rank ? this.#found : undefined;
    return {
      rank: first,
      found: own && notFiniteError(own).message,
      isAveraged: execution.isUncompressed,
    };
  }
}
