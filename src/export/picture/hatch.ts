/** The hatching of bars that lie over others: lines that leave the bars under them visible. */
import { HATCH_COLOUR } from './colours.ts';
import type { PictureSeries } from './picture.ts';

/** Fill of hatched bars. */
export const HATCH = 'url(#hatch)';

/** The definition of the hatching, if a series has it. */
export const hatchFor = (series: readonly PictureSeries[]): string =>
  series.some(({ look }) => look === 'hatched')
    ? '<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
      `<path d="M1 0V4" stroke="${HATCH_COLOUR}" stroke-width="1.5"/></pattern></defs>`
    : '';
