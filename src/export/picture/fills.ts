/**
 * Fills of bars: a colour, a colour with a pattern, or the hatching of bars that lie over others,
 * whose lines leave the bars under them visible.
 */
import { HATCH_COLOUR } from './colours.ts';
import type { Pattern } from './phase-patterns.ts';
import type { PictureSeries } from './picture.ts';

const HATCH =
  '<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
  `<path d="M1 0V4" stroke="${HATCH_COLOUR}" stroke-width="1.5"/></pattern>`;

/** Degrees by which upright lines are turned. */
const TURNS = { upright: 0, rising: 45, level: 90, falling: 135 } as const;

/** Fill of a series' bars. */
export function fillOf({ colour, look, pattern }: PictureSeries): string {
  if (look === 'hatched') return 'url(#hatch)';
  return isPlain(pattern) ? colour : `url(#${idOf(colour, pattern)})`;
}

/** Definitions that these series' fills need. */
export function fillDefinitions(series: readonly PictureSeries[]): string {
  const patterns = series.flatMap(({ colour, look, pattern }) => {
    if (look === 'hatched') return [HATCH];
    return isPlain(pattern) ? [] : [definition(colour, pattern)];
  });
  return patterns.length === 0 ? '' : `<defs>${[...new Set(patterns)].join('')}</defs>`;
}

const isPlain = (pattern: Pattern | undefined): pattern is 'plain' | undefined =>
  pattern === undefined || pattern === 'plain';

const idOf = (colour: string, pattern: Pattern): string =>
  `${pattern}-${colour.slice(1)}`;

function definition(colour: string, pattern: Exclude<Pattern, 'plain'>): string {
  const marks =
    pattern === 'dots'
      ? `<circle cx="1.5" cy="1.5" r="0.9"/><circle cx="4.5" cy="4.5" r="0.9"/>`
      : `<rect x="2" width="1.25" height="6"/>`;
  const turn =
    pattern === 'dots' ? '' : ` patternTransform="rotate(${TURNS[pattern]})"`;
  return (
    `<pattern id="${idOf(colour, pattern)}" width="6" height="6" patternUnits="userSpaceOnUse"${turn}>` +
    `<rect width="6" height="6" fill="${colour}"/>` +
    `<g fill="${HATCH_COLOUR}" fill-opacity="0.55">${marks}</g></pattern>`
  );
}
