/**
 * A chart as one SVG element. Colours are classes (`s0` … `s5`, `axis`, `grid`), which the
 * page's style defines for light and dark. The page also shows the same data as a table.
 */
import { axisScale, tickTexts, type AxisScale } from './axis-scale.ts';
import type { Chart, ChartPoint, Series } from './chart.ts';
import { marker } from './marker.ts';
import { escapeMarkup } from '../../shared/words/markup.ts';

export const CHART_WIDTH = 720;
export const CHART_HEIGHT = 380;
const LEFT = 64;
const RIGHT = 20;
const TOP = 40;
const BOTTOM = 54;
/** Half the width of an error bar's caps. */
const CAP = 4;
/**
 * A series with at least this many points is drawn as a curve with a band, without
 * marks.
 */
const CURVE = 20;
/** The share of a group's width that its bars occupy. */
const BARS = 0.72;

/** Positions in the drawing. */
interface Plot {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly scaleX: AxisScale;
  readonly scaleY: AxisScale;
}

export function chartSvg(chart: Chart, title: string): string {
  const plot = plotOf(chart);
  const marks =
    chart.kind === 'bars'
      ? bars(chart, plot)
      : chart.series.map((series, index) => line(series, index, plot)).join('');
  return (
    `<svg viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}" role="img" aria-labelledby="chart-title">` +
    `<title id="chart-title">${escapeMarkup(`${title}. ${chart.caption}`)}</title>` +
    grid(chart, plot) +
    references(chart, plot) +
    marks +
    // Over the curves, which would strike them through.
    referenceLabels(chart, plot) +
    '</svg>'
  );
}

/** The mark of a series in a legend, 28 × 14 units. */
export const swatchShape = ({ kind, series }: Chart, index: number): string =>
  kind === 'bars'
    ? `<rect class="bar s${index}" x="7" y="1" width="14" height="12" rx="2"/>`
    : `<path class="line s${index}" d="M0 7H28"/>${isCurve(series[index]!) ? '' : marker(index, 14, 7)}`;

const isCurve = ({ points }: Series): boolean => points.length >= CURVE;

function plotOf(chart: Chart): Plot {
  const points = chart.series.flatMap((series) => series.points);
  const heights = [
    ...points.flatMap(({ y, low, high }) => [y, low, high]),
    ...(chart.references ?? []).map(({ y }) => y),
  ];
  const { categories } = chart.x;
  const scaleX: AxisScale =
    categories === undefined
      ? axisScale(
          chart.x,
          points.map(({ x }) => x),
          false,
        )
      : {
          ticks: categories.map((_, index) => index),
          place: (index) => (index + 0.5) / categories.length,
        };
  const scaleY = axisScale(chart.y, heights, chart.kind === 'bars');
  return {
    scaleX,
    scaleY,
    x: (value) => round(LEFT + scaleX.place(value) * (CHART_WIDTH - LEFT - RIGHT)),
    y: (value) =>
      round(
        CHART_HEIGHT - BOTTOM - scaleY.place(value) * (CHART_HEIGHT - TOP - BOTTOM),
      ),
  };
}

function grid(chart: Chart, { x, y, scaleX, scaleY }: Plot): string {
  const right = CHART_WIDTH - RIGHT;
  const floor = CHART_HEIGHT - BOTTOM;
  const { categories } = chart.x;
  const texts = {
    x: categories ?? tickTexts(scaleX.ticks),
    y: tickTexts(scaleY.ticks),
  };
  const horizontal = scaleY.ticks.map(
    (tick, index) =>
      `<line class="grid" x1="${LEFT}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/>` +
      `<text class="tick" text-anchor="end" x="${LEFT - 9}" y="${y(tick) + 4}">${texts.y[index]!}</text>`,
  );
  const vertical = scaleX.ticks.map((tick, index) => {
    const label = texts.x[index]!;
    const notch =
      categories === undefined
        ? `<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="${floor}" y2="${floor + 5}"/>`
        : '';
    return (
      notch +
      `<text class="tick" text-anchor="middle" x="${x(tick)}" y="${floor + 20}">${escapeMarkup(label)}</text>`
    );
  });
  return (
    horizontal.join('') +
    // Bars start at 0, which may be above the bottom.
    (chart.kind === 'bars'
      ? ''
      : `<line class="axis" x1="${LEFT}" x2="${right}" y1="${floor}" y2="${floor}"/>`) +
    vertical.join('') +
    `<text class="label" text-anchor="middle" x="${(LEFT + right) / 2}" y="${CHART_HEIGHT - 12}">${escapeMarkup(chart.x.label)}</text>` +
    // Horizontal text above its axis, for readability.
    `<text class="label" x="0" y="16">${escapeMarkup(chart.y.label)}</text>`
  );
}

const references = (chart: Chart, { y }: Plot): string =>
  (chart.references ?? [])
    .map(
      ({ y: value }) =>
        `<line class="reference" x1="${LEFT}" x2="${CHART_WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`,
    )
    .join('');

const referenceLabels = (chart: Chart, { y }: Plot): string =>
  (chart.references ?? [])
    .map(
      ({ label, y: value }) =>
        `<text class="note" x="${LEFT + 8}" y="${y(value) - 6}">${escapeMarkup(label)}</text>`,
    )
    .join('');

function line(series: Series, index: number, plot: Plot): string {
  const { points } = series;
  if (points.length === 0) return '';
  const { x, y } = plot;
  const path = points.map((point) => `${x(point.x)} ${y(point.y)}`).join('L');
  const stroke = `<path class="line s${index}" d="M${path}"/>`;
  if (isCurve(series)) {
    const upper = points.map((point) => `${x(point.x)} ${y(point.high)}`);
    const lower = points.map((point) => `${x(point.x)} ${y(point.low)}`).reverse();
    return `<path class="band s${index}" d="M${[...upper, ...lower].join('L')}Z"/>${stroke}`;
  }
  return (
    stroke +
    points
      .map((point) => {
        const at = x(point.x);
        return errorBar(point, index, at, plot) + marker(index, at, y(point.y));
      })
      .join('')
  );
}

function bars(chart: Chart, plot: Plot): string {
  const groups = chart.x.categories!.length;
  const group = ((CHART_WIDTH - LEFT - RIGHT) / groups) * BARS;
  const width = Math.min(56, group / chart.series.length);
  const zero = plot.y(0);
  const base = `<line class="axis" x1="${LEFT}" x2="${CHART_WIDTH - RIGHT}" y1="${zero}" y2="${zero}"/>`;
  const all = chart.series
    .map(({ points }, index) =>
      points
        .map((point) => {
          const shift = (index - (chart.series.length - 1) / 2) * width;
          const at = round(plot.x(point.x) + shift);
          const top = plot.y(point.y);
          const height = round(Math.max(1, Math.abs(zero - top)));
          return (
            `<rect class="bar s${index}" x="${round(at - width / 2 + 2)}" y="${Math.min(zero, top)}" ` +
            `width="${round(width - 4)}" height="${height}" rx="2"/>` +
            onBar(errorBar(point, index, at, plot))
          );
        })
        .join(''),
    )
    .join('');
  return all + base;
}

/** An error bar with an edge in the colour of the ground, as it lies half on a bar, half above it. */
const onBar = (errorBar: string): string =>
  errorBar.replace(/class="error s\d+"/, 'class="edge"') + errorBar;

/** No bar where all seeds gave the same value. */
function errorBar(
  { low, high }: ChartPoint,
  index: number,
  at: number,
  plot: Plot,
): string {
  const [bottom, top] = [plot.y(low), plot.y(high)];
  if (bottom - top < 1) return '';
  return (
    `<path class="error s${index}" d="M${at} ${bottom}V${top}` +
    `M${at - CAP} ${bottom}H${at + CAP}M${at - CAP} ${top}H${at + CAP}"/>`
  );
}

/** A tenth of a unit is finer than any screen. */
const round = (value: number): number => Math.round(value * 10) / 10;
