/** Places of comparisons: `#/compare/ID,ID?target=90%25&by=bytes`. */
import { QUANTITY_IDS, type QuantityId } from '../../../shared/comparison/quantity.ts';
import { COST_IDS, type CostId } from '../../../shared/comparison/target.ts';
import { placeKind, unescaped, withChoices } from './place-kind.ts';

/** Runs side by side. What is not given has its default. */
export interface ComparePlace {
  readonly view: 'compare';
  /** Ids of runs, each once. */
  readonly runs: readonly string[];
  readonly of?: QuantityId | undefined;
  /** The target as it was written. */
  readonly target?: string | undefined;
  readonly by?: CostId | undefined;
  readonly baseline?: string | undefined;
}

export const comparePlace = placeKind<ComparePlace>({
  view: 'compare',
  read: (id, query) => ({
    view: 'compare',
    runs: [...new Set(id.split(',').map(unescaped))].filter((run) => run !== ''),
    of: QUANTITY_IDS.find((one) => one === query.get('of')),
    target: query.get('target'),
    by: COST_IDS.find((one) => one === query.get('by')),
    baseline: query.get('baseline'),
  }),
  write: ({ view, runs, ...choices }) =>
    withChoices(`${view}/${runs.map(encodeURIComponent).join(',')}`, choices),
});
