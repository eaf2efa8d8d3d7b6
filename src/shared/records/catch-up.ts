/** Records read from a run's journal that were made while no app stored them. */
import { machineTitle } from '../machines/machine-names.ts';
import { formatCount } from '../words/units.ts';

export interface CatchUp {
  readonly run: string;
  readonly name: string;
  /** The machine whose journal was read. */
  readonly node: string;
  /** Records that were read. */
  readonly records: number;
  /** Records that the journal had left out. */
  readonly missing: number;
}

/** Fewer records are not worth a message. */
export const CATCH_UP_MINIMUM = 1000;

export function describeCatchUp({ name, node, records, missing }: CatchUp): string {
  const rest = missing === 0 ? '' : `; ${formatCount(missing)} were thinned there`;
  return `Caught up with “${name}”: ${formatCount(records)} records from ${machineTitle(node)}${rest}`;
}
