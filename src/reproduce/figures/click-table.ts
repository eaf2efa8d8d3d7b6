/** A table of DCT's test losses on clicks as a figure: cases, measure, chart and table alike. */
import type { Figure } from '../figure.ts';
import type { FullScale } from '../full-scale.ts';
import type { Part } from '../part.ts';
import type { Sweep } from '../sweep.ts';
import { CRITEO } from './brought-data.ts';
import {
  CLICK_MEASURES,
  lossChart,
  lossTable,
  guessLoss,
  measureLoss,
  ourLosses,
} from './click-loss.ts';
import { isLoss, type Compressed } from './dct-losses.ts';
import { DCT } from './papers.ts';

/** The parts in which these tables differ. */
interface ClickTable extends Pick<
  Figure,
  | 'id'
  | 'number'
  | 'title'
  | 'claim'
  | 'rule'
  | 'settings'
  | 'history'
  | 'differences'
  | 'cases'
> {
  /** The paper's own sizes. */
  readonly full: Pick<FullScale, 'cases' | 'differences' | 'settings'>;
  readonly rows: readonly Compressed[];
  /** The heading of their names; default: `left out`. */
  readonly heading?: string;
  /** The label of the chart's axis that names the rows. */
  readonly axis: string;
  /** The parts of the rule. */
  readonly parts: (sweep: Sweep) => readonly Part[];
}

/** The figure of such a table. */
export const clickTable = ({
  rows,
  heading = 'left out',
  axis,
  parts,
  differences,
  full,
  ...own
}: ClickTable): Figure => ({
  ...own,
  paper: DCT,
  // Not those by which the settings were examined before.
  seeds: [11, 12, 13, 14, 15],
  differences: [...differences, CLICK_MEASURES],
  full: {
    ...full,
    differences: [...full.differences, CLICK_MEASURES],
    data: CRITEO,
  },
  keeps: isLoss,
  measure: measureLoss,
  guess: guessLoss,
  judge: (sweep) => ({ parts: parts(sweep), ours: ourLosses(sweep, rows) }),
  chart: (sweep) => lossChart(sweep, rows, axis),
  table: (sweep) => lossTable(sweep, rows, heading),
});
