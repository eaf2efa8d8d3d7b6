/** A chart as an SVG file of its own, with its legend and its colours. */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { CHART_HEIGHT, CHART_WIDTH, chartSvg, swatchShape } from './chart-svg.ts';
import { CHART_COLOURS, CHART_STYLE } from './chart-style.ts';
import type { Chart } from './chart.ts';

const ROW = 22;
const SWATCH = 36;
const GAP = 20;
/** No text is measured here; a little more than the mean width of a letter of 13 px. */
const LETTER = 7.2;

/**
 * @param title of the chart, for readers who cannot see it
 * @param ground of the page around it
 */
export function chartPicture(
  chart: Chart,
  title: string,
  ground: keyof typeof CHART_COLOURS,
): string {
  const { entries, height } = legend(chart);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT + height}" ` +
    `width="${CHART_WIDTH}" height="${CHART_HEIGHT + height}">` +
    `<style>svg { ${CHART_COLOURS[ground]} }${CHART_STYLE}</style>` +
    entries +
    `<svg y="${height}" width="${CHART_WIDTH}" height="${CHART_HEIGHT}">` +
    `${chartSvg(chart, title)}</svg></svg>`
  );
}

/** The series' names with their marks, in rows above the chart. */
function legend(chart: Chart): { readonly entries: string; readonly height: number } {
  let x = 0;
  let y = 0;
  const entries = chart.series.map(({ name }, index) => {
    const width = SWATCH + LETTER * name.length;
    if (x > 0 && x + width > CHART_WIDTH) {
      x = 0;
      y += ROW;
    }
    const entry =
      `<g transform="translate(${x} ${y + 4})">${swatchShape(chart, index)}` +
      `<text class="label" x="${SWATCH}" y="11">${escapeMarkup(name)}</text></g>`;
    x += Math.ceil(width) + GAP;
    return entry;
  });
  return { entries: entries.join(''), height: y + ROW + 8 };
}
