/** What was read of a run's journal that had been recorded while nobody stored it. */
import { formatCount } from './units.ts';

export interface CatchUp {
  readonly run: string;
  readonly name: string;
  /** Whose journal it is. */
  readonly node: string;
  /** Records that were read. */
  readonly records: number;
  /** Those that could not be: the journal had left them out. */
  readonly missing: number;
}

/** Fewer are no news. */
export const CATCH_UP_MINIMUM = 1000;

export function describeCatchUp({ name, node, records, missing }: CatchUp): string {
  const rest = missing === 0 ? '' : `; ${formatCount(missing)} had been thinned there`;
  return `Caught up with “${name}”: ${formatCount(records)} records from ${node}${rest}`;
}
