/**
 * Draws a picture as one SVG element that needs nothing else: colours, fonts and sizes are in it.
 * All texts are escaped. It is light, as paper is.
 */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { legendOf } from './legend.ts';
import type { Picture, PicturePoint, PictureSeries } from './picture.ts';
import { ticksOf } from './ticks.ts';

const WIDTH = 880;
const PLOT_HEIGHT = 240;
const LEFT = 68;
const RIGHT = 16;
const HEAD = 34;
const BOTTOM = 46;
const INK = '#17202a';
const SOFT = '#4b5865';
const GRID = '#e6eaee';
const MARKER = '#0b63a5';
/** Room for a marker's text before the next one may have its own. */
const MARKER_ROOM = 110;

interface Place {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly top: number;
  readonly floor: number;
}

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
    top,
    floor,
    x: scaleOf(picture.x, LEFT, WIDTH - RIGHT),
    y: scaleOf(picture.y, floor, top),
  };
  const height = floor + BOTTOM;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeMarkup(`${title}, ${unit}. ${caption}`)}" ` +
    `font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="12" fill="${INK}">` +
    `<title>${escapeMarkup(title)}</title><desc>${escapeMarkup(caption)}</desc>` +
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>` +
    `<text x="${LEFT}" y="20" font-size="15" font-weight="650">${escapeMarkup(title)}` +
    `<tspan dx="8" font-size="12" font-weight="450" fill="${SOFT}">${escapeMarkup(unit)}</tspan></text>` +
    legend.svg +
    axes(picture, place) +
    `<svg x="${LEFT}" y="${top}" width="${WIDTH - RIGHT - LEFT}" height="${PLOT_HEIGHT}" ` +
    `viewBox="${LEFT} ${top} ${WIDTH - RIGHT - LEFT} ${PLOT_HEIGHT}">` +
    picture.series.map((series) => drawn(series, place)).join('') +
    '</svg>' +
    markers(picture, place) +
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
      `<text x="${LEFT - 8}" y="${round(at + 4)}" text-anchor="end" fill="${SOFT}">${escapeMarkup(y.format(tick))}</text>`
    );
  });
  const columns = ticksOf(x, 8).map((tick) => {
    const at = place.x(tick);
    return (
      `<path d="M${at} ${place.floor}v4" stroke="${SOFT}"/>` +
      `<text x="${at}" y="${place.floor + 18}" text-anchor="middle" fill="${SOFT}">${escapeMarkup(x.format(tick))}</text>`
    );
  });
  return (
    rows.join('') +
    `<path d="M${LEFT} ${place.floor}H${right}" stroke="${SOFT}"/>` +
    columns.join('') +
    `<text x="${(LEFT + right) / 2}" y="${place.floor + 38}" text-anchor="middle" fill="${SOFT}">${escapeMarkup(x.label)}</text>`
  );
}

function drawn(series: PictureSeries, place: Place): string {
  const { colour, look, points } = series;
  if (points.length === 0) return '';
  const line = pathOf(points, place);
  switch (look) {
    case 'band': {
      const upper = (series.upper ?? []).toReversed();
      return `<path d="${line}L${pathOf(upper, place).slice(1)}Z" fill="${colour}" fill-opacity="0.16"/>`;
    }
    case 'bars':
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
      const dash = series.dash ?? (look === 'dashed' ? [5, 4] : []);
      return (
        `<path d="${line}" fill="none" stroke="${colour}" stroke-linejoin="round" ` +
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

/** All bars of a series are one path. */
function bars(
  { base = [], colour, points, width = 1 }: PictureSeries,
  place: Place,
): string {
  const rects = points.map(({ x, y }, index) => {
    const from = place.x(x - width / 2);
    // A thin gap where bars are wide enough for one.
    const room = round(place.x(x + width / 2) - from);
    const gap = room >= 4 ? 1 : 0;
    const bottom = base[index] ?? 0;
    return `M${from} ${place.y(bottom)}V${place.y(bottom + y)}h${round(room - gap)}V${place.y(bottom)}Z`;
  });
  return `<path d="${rects.join('')}" fill="${colour}"/>`;
}

function markers({ markers: all = [] }: Picture, place: Place): string {
  let free = -Infinity;
  return all
    .map(({ label, x }) => {
      const at = place.x(x);
      if (!(at >= LEFT && at <= WIDTH - RIGHT)) return '';
      const line = `<path d="M${at} ${place.top}V${place.floor}" stroke="${MARKER}" stroke-dasharray="4 3"/>`;
      if (at < free) return line;
      free = at + MARKER_ROOM;
      const isRight = at > WIDTH - MARKER_ROOM;
      return (
        `${line}<text x="${at + (isRight ? -4 : 4)}" y="${place.top - 5}" font-size="11" font-weight="600" ` +
        `text-anchor="${isRight ? 'end' : 'start'}" fill="${MARKER}">${escapeMarkup(label)}</text>`
      );
    })
    .join('');
}

const pathOf = (points: readonly PicturePoint[], { x, y }: Place): string =>
  points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point.x)} ${y(point.y)}`)
    .join('');

/** A hundredth of a pixel is finer than any print. */
const round = (value: number): number => Math.round(value * 100) / 100;
