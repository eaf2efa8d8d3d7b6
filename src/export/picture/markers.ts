/** Marks of moments and values: lines with texts, signs at the axis, arrows at cut values. */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { highestApart, signsApart } from './apart.ts';
import { INK_COLOUR } from './colours.ts';
import type { CutValue, Picture, PictureMarker } from './picture.ts';
import { round, type Place } from './place.ts';

const LINE = '#0b63a5';
/** Room for a marker's text before the next one may have its own. */
const MARKER_ROOM = 110;
/** Half a sign. */
const SIGN = 4;
/** Room for the text of a cut value. */
const CUT_ROOM = 56;

export function markersOf({ markers = [] }: Picture, place: Place): string {
  let free = -Infinity;
  const placed = markers.flatMap((marker) => {
    const at = place.x(marker.x);
    return at >= place.left && at <= place.right ? [{ ...marker, at }] : [];
  });
  const lines = placed.map(({ at, label, sign }) => {
    if (sign !== undefined) return '';
    const line = `<path d="M${at} ${place.top}V${place.floor}" stroke="${LINE}" stroke-dasharray="4 3"/>`;
    if (at < free) return line;
    free = at + MARKER_ROOM;
    const isRight = at > place.right + 16 - MARKER_ROOM;
    return (
      `${line}<text x="${at + (isRight ? -4 : 4)}" y="${place.top - 5}" font-size="11" font-weight="600" ` +
      `text-anchor="${isRight ? 'end' : 'start'}" fill="${LINE}">${escapeMarkup(label)}</text>`
    );
  });
  const signs = placed.flatMap(({ sign, ...rest }) =>
    sign === undefined ? [] : [{ ...rest, sign }],
  );
  const drawn = signsApart(signs, 2 * SIGN).map((marker) =>
    signed(marker, marker.at, place),
  );
  return [...lines, ...drawn].join('');
}

function signed(
  { colour = INK_COLOUR, label, sign }: PictureMarker,
  x: number,
  { floor, top }: Place,
): string {
  const [left, high] = [round(x - SIGN), round(floor - SIGN)];
  const rim = `fill="${colour}" stroke="#ffffff" stroke-width="1.5"`;
  const title = `<title>${escapeMarkup(label)}</title>`;
  switch (sign) {
    case 'disc':
      return `<circle cx="${x}" cy="${floor}" r="${SIGN}" ${rim}>${title}</circle>`;
    case 'square':
      return `<rect x="${left}" y="${high}" width="${2 * SIGN}" height="${2 * SIGN}" ${rim}>${title}</rect>`;
    case 'triangle':
      return `<path d="M${x} ${high - 1}l${SIGN + 1} ${2 * SIGN + 1}h${-2 * SIGN - 2}Z" ${rim}>${title}</path>`;
    case 'diamond':
      return (
        `<path d="M${x} ${top}V${high}" fill="none" stroke="${colour}" stroke-dasharray="2 3"/>` +
        `<path d="M${x} ${high - 1}l${SIGN + 1} ${SIGN + 1}l${-SIGN - 1} ${SIGN + 1}l${-SIGN - 1} ${-SIGN - 1}Z" ${rim}>${title}</path>`
      );
    case 'cross':
      return (
        `<path d="M${x} ${top}V${floor}M${left} ${high}l${2 * SIGN} ${2 * SIGN}m0 ${-2 * SIGN}l${-2 * SIGN} ${2 * SIGN}" ` +
        `fill="none" stroke="${colour}" stroke-width="1.5">${title}</path>`
      );
    case undefined:
      return '';
    default:
      return sign satisfies never;
  }
}

/** An arrow and the value at the top of what is cut: of the highest where there is no room for each. */
export function cutsOf({ cut = [] }: Picture, place: Place): string {
  const shown = cut.filter(
    ({ x }) => place.x(x) >= place.left && place.x(x) <= place.right,
  );
  const isLast = ({ x }: CutValue): boolean => place.x(x) > place.right - CUT_ROOM;
  // The last text is before its arrow.
  const start = (one: CutValue): number =>
    place.x(one.x) - (isLast(one) ? CUT_ROOM : 0);
  return highestApart(shown, start, CUT_ROOM)
    .map((one) => {
      const { label, x } = one;
      const at = place.x(x);
      const isRight = isLast(one);
      return (
        `<path d="M${round(at - 4)} ${place.top + 5}h8l-4 -6Z" fill="${INK_COLOUR}"/>` +
        `<text x="${round(at + (isRight ? -6 : 6))}" y="${place.top + 8}" font-size="10" paint-order="stroke" ` +
        `text-anchor="${isRight ? 'end' : 'start'}" stroke="#ffffff" stroke-width="3">${escapeMarkup(label)}</text>`
      );
    })
    .join('');
}
