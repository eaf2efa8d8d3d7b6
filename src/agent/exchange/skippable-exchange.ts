/**
 * An exchange that all ranks take back if the gradient of any of them was not finite: residual and
 * methods' state are then as they were before it. The ranks agree on that while their last bucket
 * travels.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { GradientSite, SiteUndo } from '../sites/gradient-site.ts';
import type { CollectiveGroup } from './collective-group.ts';
import type { SkippedExchange } from './exchange-calls.ts';
import type { ModelPart } from './model-part.ts';
import { notFiniteError, type NotFinite } from './not-finite.ts';
import type { PlanExecution } from './plan-execution.ts';
import { FINITE_STREAM } from './streams.ts';

/** The number of a rank that found nothing, above all ranks. */
const NO_RANK = 2 ** 31;

interface SkippableOptions {
  readonly execution: PlanExecution;
  readonly site: Pick<GradientSite, 'undo'>;
  readonly tensors: readonly Pick<FlatTensor, 'length'>[];
  readonly rank: number;
  /** All ranks. */
  readonly world: CollectiveGroup;
  /** Models that step; default: all. */
  readonly part?: ModelPart | undefined;
}

export class SkippableExchange {
  readonly #options: SkippableOptions;
  readonly #undo: SiteUndo;
  readonly #restore: () => void;
  #found: NotFinite | undefined;
  #first: Promise<number> | undefined;

  private constructor(options: SkippableOptions, undo: SiteUndo, restore: () => void) {
    this.#options = options;
    this.#undo = undo;
    this.#restore = restore;
  }

  /** Copies everything that the exchange will change. */
  static async begin(options: SkippableOptions): Promise<SkippableExchange> {
    const { execution, part, site } = options;
    if (site.undo === undefined) throw new Error('internal: skips on a device');
    site.undo.remember(part?.ranges);
    return new SkippableExchange(options, site.undo, await execution.states.keep(part));
  }

  /** Takes what this rank has found not to be finite, if anything, and asks the others. */
  readonly checked = (found: NotFinite | undefined): void => {
    const { rank } = this.#options;
    this.#found = found;
    this.#first = this.#least(found === undefined ? NO_RANK : rank);
    this.#first.catch(awaitedElsewhere);
  };

  /** Undoes the exchange if a rank's gradient was not finite. Call it once all buckets are done. */
  async end(): Promise<SkippedExchange | undefined> {
    const first = await this.#first!;
    if (first === NO_RANK) return undefined;
    const { execution, part, rank, tensors } = this.#options;
    const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    this.#undo.recall(part?.ranges ?? [{ start: 0, length }]);
    this.#restore();
    const own = first === rank ? this.#found : undefined;
    return {
      rank: first,
      found: own && notFiniteError(own).message,
      isAveraged: execution.isUncompressed,
    };
  }

  /** The smallest `value` of all ranks. */
  async #least(value: number): Promise<number> {
    const { world } = this.#options;
    const [least] = await world.summarize(FINITE_STREAM, [value], ['min']);
    return least!;
  }
}
