/** Words and figures of comparisons, the same on the page and in a terminal. */
import { formatFactor } from '../words/units.ts';
import type { GroupResult } from './comparison.ts';
import type { CostId } from './target.ts';

export const COST_TITLES: Readonly<Record<CostId, string>> = {
  time: 'Training time',
  iterations: 'Iterations',
  passes: 'Passes over the data',
  bytes: 'Bytes sent by a rank',
};

/** Headings of ratios by a cost. */
export const RATIO_TITLES: Readonly<Record<CostId, string>> = {
  time: 'Times as fast',
  iterations: 'Times fewer iterations',
  passes: 'Times fewer passes',
  bytes: 'Times fewer bytes',
};

/** A group's ratio to the baseline and its interval: `3.20×`, `2.9× to 3.5×`. */
export function ratioText(
  { costs, speedup }: Pick<GroupResult, 'costs' | 'speedup'>,
  isBaseline: boolean,
): readonly [ratio: string, interval: string] {
  if (isBaseline) return [costs === undefined ? '–' : '1 (baseline)', ''];
  if (speedup === undefined) return ['–', ''];
  const { high, low, ratio } = speedup;
  const interval =
    low === undefined
      ? 'too few seeds'
      : `${formatFactor(low)} to ${formatFactor(high)}`;
  return [formatFactor(ratio), interval];
}
