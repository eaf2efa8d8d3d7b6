/**
 * Draws a picture as one SVG element that needs nothing else: colours, fonts and sizes are in it.
 * All texts are escaped. It is light, as paper is.
 */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { EDGE_COLOUR, INK_COLOUR, SOFT_COLOUR } from './colours.ts';
import { fillDefinitions, fillOf } from './fills.ts';
import { legendOf } from './legend.ts';
import { cutsOf, markersOf } from './markers.ts';
import type { Picture, PicturePoint, PictureSeries } from './picture.ts';
import { round, type Place } from './place.ts';
import { ticksOf } from './ticks.ts';

const WIDTH = 880;
const PLOT_HEIGHT = 240;
const LEFT = 68;
const RIGHT = 16;
const HEAD = 34;
const BOTTOM = 46;
const GRID = '#e6eaee';
/** Pixels: the edges of lower bars would be specks. */
const LEAST_EDGED = 8;

/** The picture as SVG, with its own size. */
export function pictureSvg(picture: Picture): string {
  const { caption, title, unit } = picture;
  const legend = legendOf(picture.series, {
    left: LEFT,
    right: WIDTH - RIGHT,
    top: HEAD,
  });
  const top = HEAD + legend.height + 18;
  const floor = top + PLOT_HEIGHT;
  const place: Place = {
    left: LEFT,
    right: WIDTH - RIGHT,
    top,
    floor,
    x: scaleOf(picture.x, LEFT, WIDTH - RIGHT),
    y: scaleOf(picture.y, floor, top),
  };
  const height = floor + BOTTOM;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeMarkup(`${title}, ${unit}. ${caption}`)}" ` +
    `font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="12" fill="${INK_COLOUR}">` +
    `<title>${escapeMarkup(title)}</title><desc>${escapeMarkup(caption)}</desc>` +
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>` +
    `<text x="${LEFT}" y="20" font-size="15" font-weight="650">${escapeMarkup(title)}` +
    `<tspan dx="8" font-size="12" font-weight="450" fill="${SOFT_COLOUR}">${escapeMarkup(unit)}</tspan></text>` +
    fillDefinitions(picture.series) +
    legend.svg +
    axes(picture, place) +
    `<svg x="${LEFT}" y="${top}" width="${WIDTH - RIGHT - LEFT}" height="${PLOT_HEIGHT}" ` +
    `viewBox="${LEFT} ${top} ${WIDTH - RIGHT - LEFT} ${PLOT_HEIGHT}">` +
    picture.series.map((series) => drawn(series, place)).join('') +
    '</svg>' +
    cutsOf(picture, place) +
    markersOf(picture, place) +
    '</svg>'
  );
}

function scaleOf(
  { logarithmic = false, max, min }: Picture['x'],
  from: number,
  to: number,
): (value: number) => number {
  const of = logarithmic ? Math.log10 : (value: number) => value;
  const span = of(max) - of(min) || 1;
  return (value) => round(from + ((of(value) - of(min)) / span) * (to - from));
}

function axes({ x, y }: Picture, place: Place): string {
  const right = WIDTH - RIGHT;
  const rows = ticksOf(y, 5).map((tick) => {
    const at = place.y(tick);
    return (
      `<path d="M${LEFT} ${at}H${right}" stroke="${GRID}"/>` +
      `<text x="${LEFT - 8}" y="${round(at + 4)}" text-anchor="end" fill="${SOFT_COLOUR}">${escapeMarkup(y.format(tick))}</text>`
    );
  });
  const columns = ticksOf(x, 8).map((tick) => {
    const at = place.x(tick);
    return (
      `<path d="M${at} ${place.floor}v4" stroke="${SOFT_COLOUR}"/>` +
      `<text x="${at}" y="${place.floor + 18}" text-anchor="middle" fill="${SOFT_COLOUR}">${escapeMarkup(x.format(tick))}</text>`
    );
  });
  return (
    rows.join('') +
    `<path d="M${LEFT} ${place.floor}H${right}" stroke="${SOFT_COLOUR}"/>` +
    columns.join('') +
    `<text x="${(LEFT + right) / 2}" y="${place.floor + 38}" text-anchor="middle" fill="${SOFT_COLOUR}">${escapeMarkup(x.label)}</text>`
  );
}

function drawn(series: PictureSeries, place: Place): string {
  const { colour, look } = series;
  const points = series.points.filter(isDrawable);
  if (points.length === 0) return '';
  switch (look) {
    case 'band':
      return `<path d="${bandOf(series, place)}" fill="${colour}" fill-opacity="0.16"/>`;
    case 'spread':
      return spreads(series, place);
    case 'bars':
    case 'hatched':
      return bars(series, place);
    case 'dots':
      return points
        .map(
          ({ x, y }) =>
            `<circle cx="${place.x(x)}" cy="${place.y(y)}" r="3.5" fill="${colour}"/>`,
        )
        .join('');
    case 'dashed':
    case 'faint':
    case 'line': {
      const runs = stretchesOf(series.points, isDrawable);
      const line = runs.map((run) => pathOf(run, place)).join('');
      const hasDots = runs.some(({ length }) => length === 1);
      const dash = series.dash ?? (look === 'dashed' ? [5, 4] : []);
      return (
        `<path d="${line}" fill="none" stroke="${colour}" stroke-linejoin="round" ` +
        (hasDots ? 'stroke-linecap="round" ' : '') +
        `stroke-width="${look === 'faint' ? 1 : 1.75}"` +
        (look === 'faint' ? ' stroke-opacity="0.6"' : '') +
        (dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`) +
        '/>'
      );
    }
    default:
      return look satisfies never;
  }
}

/** All bars of a series are one path, and their edges to the bars that they stand on another. */
function bars(series: PictureSeries, place: Place): string {
  const { base = [], look, points, widths = [] } = series;
  const edges: string[] = [];
  const rects = points.map(({ x, y }, index) => {
    if (!(y > 0)) return '';
    const width = widths[index] ?? 1;
    const from = place.x(x - width / 2);
    // A thin gap where bars are wide enough for one.
    const room = round(place.x(x + width / 2) - from);
    const gap = room >= 4 ? 1 : 0;
    const bottom = base[index] ?? 0;
    if (look === 'bars' && bottom > 0) {
      const height = place.y(bottom) - place.y(bottom + y);
      if (height >= LEAST_EDGED) {
        edges.push(`M${from} ${round(place.y(bottom) - 0.5)}h${round(room - gap)}`);
      }
    }
    return `M${from} ${place.y(bottom)}V${place.y(bottom + y)}h${round(room - gap)}V${place.y(bottom)}Z`;
  });
  return (
    `<path d="${rects.join('')}" fill="${fillOf(series)}"/>` +
    (edges.length === 0 ? '' : `<path d="${edges.join('')}" stroke="${EDGE_COLOUR}"/>`)
  );
}

function spreads({ colour, points, upper = [] }: PictureSeries, place: Place): string {
  const lines = points.map(({ x, y }, index) => {
    const most = upper[index]?.y ?? y;
    return most > y ? `M${place.x(x)} ${place.y(y)}V${place.y(most)}` : '';
  });
  return `<path d="${lines.join('')}" stroke="${colour}" stroke-opacity="0.6"/>`;
}

/** A band: an area for each stretch in which both edges have a place. */
function bandOf({ points, upper = [] }: PictureSeries, place: Place): string {
  const edges = points.map((low, index) => ({ low, high: upper[index] }));
  const areas = stretchesOf(
    edges,
    ({ high, low }) => isDrawable(low) && high !== undefined && isDrawable(high),
  );
  return areas
    .map((area) => {
      const back = area.map(({ high }) => high!).toReversed();
      return `${pathOf([...area.map(({ low }) => low), ...back], place)}Z`;
    })
    .join('');
}

/** Whether a point has a place: there is a gap where one has none. */
const isDrawable = ({ x, y }: PicturePoint): boolean =>
  Number.isFinite(x) && Number.isFinite(y);

/** The longest stretches of neighbours that all have a place. */
function stretchesOf<T>(all: readonly T[], has: (one: T) => boolean): readonly T[][] {
  const stretches: T[][] = [];
  let current: T[] | undefined;
  for (const one of all) {
    if (!has(one)) current = undefined;
    else if (current === undefined) stretches.push((current = [one]));
    else current.push(one);
  }
  return stretches;
}

/** A line through points; a single one is a line of no length, whose ends are drawn. */
const pathOf = (points: readonly PicturePoint[], { x, y }: Place): string =>
  points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point.x)} ${y(point.y)}`)
    .join('') + (points.length === 1 ? 'h0' : '');
