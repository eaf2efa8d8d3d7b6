/** Scales, and charts as SVG: where things lie, by the coordinates that are written. */
import { describe, expect, test } from 'vitest';
import {
  axisScale,
  tickText,
  tickTexts,
} from '../../../src/reproduce/chart/axis-scale.ts';
import { chartSvg, swatchShape } from '../../../src/reproduce/chart/chart-svg.ts';
import {
  chartSchema,
  meanCurve,
  pointOf,
  type Chart,
} from '../../../src/reproduce/chart/chart.ts';

const linear = { label: '', scale: 'linear' } as const;
const log = { label: '', scale: 'log' } as const;

test('a mean curve is of the runs that have one, where all of these have a value', () => {
  const curve = (...ys: readonly number[]) => ys.map((y, x) => ({ x, y }));
  expect(meanCurve([curve(1, 2, 3), [], curve(3, 6)])).toEqual([
    { x: 0, y: 2, low: 1, high: 3 },
    { x: 1, y: 4, low: 2, high: 6 },
  ]);
  expect(meanCurve([[], []])).toEqual([]);
});

describe('ticks', () => {
  test.each([
    [linear, [0, 97], false, [0, 20, 40, 60, 80, 100]],
    [linear, [71.3, 74.9], false, [71, 72, 73, 74, 75]],
    [linear, [12, 13], true, [0, 5, 10, 15]],
    [linear, [-2, 4.5], true, [-2, 0, 2, 4, 6]],
    [linear, [0.0001, 0.0004], false, [0.0001, 0.0002, 0.0003, 0.0004]],
    [log, [0.19, 60], false, [0.1, 1, 10, 100]],
    [log, [3, 4], false, [1, 10]],
    [{ ...log, ticks: [2, 4, 8] }, [2, 8], false, [2, 4, 8]],
  ] as const)('%#: of %j over %j', (axis, values, zero, ticks) => {
    const scale = axisScale(axis, values, zero);
    expect(scale.ticks.map((tick) => Number(tick.toPrecision(9)))).toEqual(ticks);
    for (const value of values) {
      expect(scale.place(value)).toBeGreaterThanOrEqual(0);
      expect(scale.place(value)).toBeLessThanOrEqual(1);
    }
  });

  test('a logarithmic axis gives equal factors equal room', () => {
    const { place } = axisScale(log, [1, 1000], false);
    expect(place(10) - place(1)).toBeCloseTo(1 / 3, 12);
    expect(place(1000) - place(100)).toBeCloseTo(1 / 3, 12);
    expect(() => axisScale(log, [0, 1], false)).toThrow('internal: 0');
  });

  test('one value alone has a place', () => {
    expect(axisScale(linear, [5], false).place(5)).toBeGreaterThanOrEqual(0);
    expect(axisScale(linear, [0], false).place(0)).toBeGreaterThanOrEqual(0);
  });

  test.each([
    [0, '0'],
    [0.1, '0.1'],
    [2000, '2,000'],
    [-2.5, '−2.5'],
    [1e6, '10⁶'],
    [2e-4, '2·10⁻⁴'],
  ])('%d is written as %s', (value, text) => {
    expect(tickText(value)).toBe(text);
  });

  test('of one axis are written alike', () => {
    expect(tickTexts([1e-4, 1e-3, 0.01, 1])).toEqual(['10⁻⁴', '10⁻³', '10⁻²', '10⁰']);
    expect(tickTexts([0, 5e5, 1e6])).toEqual(['0', '5·10⁵', '10⁶']);
    expect(tickTexts([0, 0.001, 2000])).toEqual(['0', '0.001', '2,000']);
  });
});

const chart: Chart = {
  kind: 'lines',
  caption: 'what <it> shows',
  x: { label: 'ranks', scale: 'log', ticks: [1, 10, 100] },
  y: { label: 'time (ms) & more', scale: 'linear', ticks: [0, 10] },
  series: [
    { name: 'one', points: [pointOf(1, [0]), pointOf(10, [4, 6]), pointOf(100, [10])] },
  ],
};

const numbers = (svg: string, pattern: RegExp): readonly (readonly number[])[] =>
  [...svg.matchAll(pattern)].map((match) => match.slice(1).map(Number));

test('lines pass their points: equal steps where they are equal', () => {
  const svg = chartSvg(chart, 'a "title"');
  const marks = numbers(svg, /<circle class="mark s0" cx="([\d.]+)" cy="([\d.]+)"/g);
  expect(marks).toHaveLength(3);
  const [[x1, y1], [x2, y2], [x3, y3]] = marks as [number[], number[], number[]];
  expect(x2! - x1!).toBeCloseTo(x3! - x2!, 0);
  expect(y1! - y2!).toBeCloseTo(y2! - y3!, 0);
  expect(y1).toBeGreaterThan(y3!);
  expect(svg).toContain(`d="M${x1} ${y1}L${x2} ${y2}L${x3} ${y3}"`);
  // One error bar: of the point with two values, a fifth of the axis long.
  const bars = numbers(svg, /class="error s0" d="M[\d.]+ ([\d.]+)V([\d.]+)/g);
  expect(bars).toHaveLength(1);
  expect(bars[0]![0]! - bars[0]![1]!).toBeCloseTo((y1! - y3!) / 5, 0);
});

test('texts are escaped, and what is shown is said', () => {
  const svg = chartSvg(chart, 'a "title"');
  expect(svg).toContain('a &quot;title&quot;. what &lt;it&gt; shows</title>');
  expect(svg).toContain('time (ms) &amp; more');
  expect(svg).not.toContain('<it>');
});

test('bars begin at 0, below it as above', () => {
  const svg = chartSvg(
    {
      ...chart,
      kind: 'bars',
      x: { label: 'group', scale: 'linear', categories: ['a', 'b'] },
      y: { label: 'change', scale: 'linear' },
      series: [{ name: 'one', points: [pointOf(0, [-5]), pointOf(1, [10])] }],
    },
    'bars',
  );
  const found = numbers(
    svg,
    /<rect class="bar s0" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g,
  );
  const [[top1, height1], [top2, height2]] = found as [number[], number[]];
  expect(top2! + height2!).toBeCloseTo(top1!, 0);
  expect(height2).toBeCloseTo(2 * height1!, 0);
});

test('an error bar on a bar has an edge, which a bar of its colour would swallow', () => {
  const points = [pointOf(0, [4, 6])];
  const series = [{ name: 'one', points }];
  const x = { label: 'group', scale: 'linear', categories: ['a'] } as const;
  const svg = chartSvg({ ...chart, kind: 'bars', x, series }, 'bars');
  expect(svg).toMatch(
    /<path class="edge" d="([^"]+)"\/><path class="error s0" d="\1"\/>/,
  );
  expect(chartSvg(chart, 'lines')).not.toContain('class="edge"');
});

test('a curve of many points has a band, and no marks', () => {
  const points = Array.from({ length: 25 }, (_, x) => pointOf(x, [x, x + 2]));
  const curve: Chart = {
    ...chart,
    x: { label: 'x', scale: 'linear' },
    series: [{ name: 'one', points }],
  };
  const svg = chartSvg(curve, 'curve');
  expect(svg).toContain('class="band s0"');
  expect(svg).not.toContain('class="mark');
  // Nor has its entry in the legend.
  expect(swatchShape(curve, 0)).toContain('class="line s0"');
  expect(swatchShape(curve, 0)).not.toContain('class="mark');
  expect(swatchShape(chart, 0)).toContain('class="mark s0"');
});

test('a line across has its label', () => {
  const svg = chartSvg({ ...chart, references: [{ y: 5, label: 'half' }] }, 'half');
  expect(svg).toMatch(/class="reference".*>half<\/text>/);
});

test('more series than there are colours are refused', () => {
  const series = Array.from({ length: 7 }, () => chart.series[0]!);
  expect(chartSchema.safeParse({ ...chart, series }).success).toBe(false);
  expect(chartSchema.safeParse(chart).success).toBe(true);
});
