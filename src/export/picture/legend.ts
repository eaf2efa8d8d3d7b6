/** The legend of a picture: a sample and a name for each series, in as many rows as they need. */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { INK_COLOUR } from './colours.ts';
import { fillOf } from './fills.ts';
import type { PictureSeries } from './picture.ts';

/** Width of a character, about: names are short, and rows are not full. */
const CHARACTER = 6.6;
const SAMPLE = 16;
const GAP = 18;
const ROW = 19;
const MOST_CHARACTERS = 60;

interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

export function legendOf(
  series: readonly PictureSeries[],
  { left, right, top }: Frame,
): { readonly svg: string; readonly height: number } {
  let [x, row] = [left, 0];
  const entries = series
    .filter(({ isUnnamed = false }) => !isUnnamed)
    .map((one) => {
      const name =
        one.label.length > MOST_CHARACTERS
          ? `${one.label.slice(0, MOST_CHARACTERS - 1)}…`
          : one.label;
      const width = SAMPLE + 6 + name.length * CHARACTER + GAP;
      if (x + width > right && x > left) [x, row] = [left, row + 1];
      const y = top + row * ROW;
      const svg =
        sampleOf(one, x, y) +
        `<text x="${x + SAMPLE + 6}" y="${y + 4}">${escapeMarkup(name)}</text>`;
      x += width;
      return svg;
    });
  return { svg: entries.join(''), height: entries.length === 0 ? 0 : row * ROW + 10 };
}

function sampleOf(series: PictureSeries, x: number, y: number): string {
  const { colour, dash, look } = series;
  switch (look) {
    case 'band':
      return `<rect x="${x}" y="${y - 5}" width="${SAMPLE}" height="10" fill="${colour}" fill-opacity="0.16"/>`;
    case 'bars':
      return `<rect x="${x + 2}" y="${y - 5}" width="11" height="11" rx="2" fill="${fillOf(series)}"/>`;
    case 'hatched':
      return [colour, fillOf(series)]
        .map(
          (fill) =>
            `<rect x="${x + 2}" y="${y - 5}" width="11" height="11" rx="2" fill="${fill}"/>`,
        )
        .join('');
    case 'spread':
      return `<path d="M${x + SAMPLE / 2} ${y - 6}v12" stroke="${INK_COLOUR}"/>`;
    case 'dots':
      return `<circle cx="${x + SAMPLE / 2}" cy="${y}" r="3.5" fill="${colour}"/>`;
    case 'dashed':
    case 'faint':
    case 'line': {
      const dashes = dash ?? (look === 'dashed' ? [5, 4] : []);
      return (
        `<path d="M${x} ${y}h${SAMPLE}" stroke="${colour}" stroke-width="2"` +
        (look === 'faint' ? ' stroke-opacity="0.6"' : '') +
        (dashes.length === 0 ? '' : ` stroke-dasharray="${dashes.join(' ')}"`) +
        '/>'
      );
    }
    default:
      return look satisfies never;
  }
}
