/** Files of a chart: the numbers of its table, unrounded, and a picture of the same. */
import { describe, expect, it } from 'vitest';
import { chartFileName } from '../../../src/export/file-name.ts';
import { pictureSvg } from '../../../src/export/picture/picture-svg.ts';
import { withAxisColumn } from '../../../src/renderer/charts/axis-column.ts';
import { axisMapOf, type AxisKind } from '../../../src/renderer/charts/axis-map.ts';
import { bytesTable } from '../../../src/renderer/charts/bytes-table.ts';
import { meanCurve } from '../../../src/renderer/charts/curves.ts';
import { linePicture, lonePoints } from '../../../src/renderer/charts/line-drawing.ts';
import type { Marker } from '../../../src/renderer/charts/markers.ts';
import { phaseBars, phasePicture } from '../../../src/renderer/charts/phase-bars.ts';
import type { PlacedRun } from '../../../src/renderer/charts/placed-run.ts';
import { phaseTable } from '../../../src/renderer/charts/phase-table.ts';
import { twinCsv } from '../../../src/renderer/charts/twin-csv.ts';
import { meanOf } from '../../../src/renderer/state/history/bin.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { phasesOf } from '../../../src/shared/records/phases.ts';
import { iterationRecord } from './records.ts';

const LENGTH = 60;
/** A plot's height, and its left and right edges, in pixels. */
const [HEIGHT, LEFT, RIGHT] = [240, 68, 864];
const WORDS = { title: 'A < B', unit: 'per rank', caption: 'All of it.' };

const history = new RunHistory(1);
for (let iteration = 0; iteration < LENGTH; iteration++) {
  history.add(
    iterationRecord({
      rank: 0,
      iteration,
      at: 1_700_000_000_000 + iteration ** 2,
      phases: {
        data: 1 / 7,
        compute: 3 + iteration / 70,
        send: 1 / 9,
        receive: 1 / 11,
        wait: 1 / 3,
      },
      overlapped: 2 / 3,
      wireSent: 1000 + 37 * iteration,
    }),
  );
}

/** The run as charts have it that show a part. */
function charted(kind: AxisKind, from: number, to: number, limit: number) {
  const bins = history.bins({ from, to, limit });
  const whole = history.bins({ from: 0, to: LENGTH, limit: 300 });
  const markers: readonly Marker[] = [
    { kind: 'switch', iteration: from + 5, label: 'topk & more' },
    { kind: 'fault', iteration: from + 7, label: 'a rank was lost' },
  ];
  const run: PlacedRun = {
    map: axisMapOf(kind, { whole, part: bins, length: LENGTH }),
    axis: { min: from - 0.5, max: to - 0.5 },
    markers,
  };
  return { bins, run };
}

/** Columns of a CSV by title. */
function columnsOf(csv: string): Readonly<Record<string, readonly string[]>> {
  const [head, ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return Object.fromEntries(
    head!.map((title, column) => [title, rows.map((row) => row[column]!)]),
  );
}

const numbersOf = (texts: readonly string[] | undefined): readonly number[] =>
  texts!.map(Number);

/** The path of the last shape of a colour, as pairs of numbers. */
function pathOf(svg: string, pattern: RegExp): readonly (readonly number[])[] {
  const path = pattern.exec(svg)![1]!;
  return path.match(/[ML][^ML]+/g)!.map((part) => part.match(/-?[\d.]+/g)!.map(Number));
}

describe('a chart of phases', () => {
  it('is saved with the numbers of its table, none rounded, and bars of the same heights', () => {
    const { bins, run } = charted('time', 10, 40, 100);
    const all = (): boolean => true;
    const csv = columnsOf(
      twinCsv(withAxisColumn(run, phaseTable(bins, phasesOf('whole')))),
    );
    const compute = bins.map((bin) => meanOf(bin, 'compute')!);
    expect(numbersOf(csv['compute ms'])).toEqual(compute);
    expect(numbersOf(csv['iteration'])).toEqual(bins.map(({ from }) => from));
    expect(numbersOf(csv['s since start'])).toEqual(
      bins.map(({ from }) => from ** 2 / 1000),
    );

    const bars = phaseBars(bins, all);
    const svg = pictureSvg(
      phasePicture(WORDS, run, bars, { isShown: all, patterns: false }),
    );
    const drawn = pathOf(svg, /<path d="([^"]*)" fill="#0072b2"/);
    const scale = bars.y.max / HEIGHT;
    expect(drawn).toHaveLength(compute.length);
    for (const [index, [, bottom, top]] of drawn.entries())
      expect((bottom! - top!) * scale).toBeCloseTo(compute[index]!, 2);
    expect(svg).toContain('fill="url(#hatch)"');
    // Sending and receiving differ by colour and by pattern: in the bars and in the legend.
    const fills = [...svg.matchAll(/ fill="url\(#((?:rising|falling)-\w+)\)"/g)];
    const [send, receive] = ['rising-d55e00', 'falling-9147d8'];
    expect(fills.map(([, id]) => id)).toEqual([send, receive, send, receive]);
    expect(svg.match(/<pattern id="(rising|falling)-/g)).toHaveLength(2);
    const patterned = pictureSvg(
      phasePicture(WORDS, run, bars, { isShown: all, patterns: true }),
    );
    expect(patterned).toMatch(/ fill="url\(#level-e69f00\)"/);
    expect(svg).toContain('A &lt; B');
    expect(svg).toContain('topk &amp; more');
    expect(svg).toContain('a rank was lost');
    expect(svg).toContain('time since start');
    expect(svg).not.toContain('NaN');
  });

  it('leaves out of the picture what its legend hides, and says what merged bars are', () => {
    const { bins, run } = charted('iteration', 0, LENGTH, 10);
    const csv = columnsOf(twinCsv(phaseTable(bins, phasesOf('whole'))));
    expect(numbersOf(csv['first iteration'])).toEqual(bins.map(({ from }) => from));
    expect(numbersOf(csv['last iteration'])).toEqual(bins.map(({ to }) => to - 1));
    const whole = phasePicture(
      WORDS,
      run,
      phaseBars(bins, () => true),
      { isShown: () => true, patterns: false },
    );
    expect(whole.series.at(-1)!.look).toBe('spread');
    const noWait = (field: string): boolean => field !== 'wait';
    const part = phasePicture(WORDS, run, phaseBars(bins, noWait), {
      isShown: noWait,
      patterns: false,
    });
    expect(part.series.map(({ label }) => label)).toEqual([
      ...['data', 'compute', 'send', 'receive', 'overlapped'],
    ]);
  });
});

describe('a chart of curves', () => {
  it('is saved with the numbers of its table, and a curve of the same on both axes', () => {
    const { bins, run } = charted('clock', 0, LENGTH, 100);
    const csv = columnsOf(twinCsv(withAxisColumn(run, bytesTable(bins))));
    const sent = bins.map((bin) => meanOf(bin, 'wireSent')!);
    expect(numbersOf(csv['wire sent B'])).toEqual(sent);
    const [clock] = Object.keys(csv).filter((title) => title.startsWith('clock'));
    const moments = csv[clock!]!.map((text) => Date.parse(text));
    expect(moments).toEqual(bins.map(({ from }) => 1_700_000_000_000 + from ** 2));

    const y = { min: 100, max: 10_000 };
    const points = meanCurve(bins, 'wireSent');
    const picture = linePicture(WORDS, {
      series: [{ label: 'sent', look: 'line', property: '--phase-send', points }],
      run,
      y,
      logarithmic: true,
      format: String,
    });
    const svg = pictureSvg(picture);
    const drawn = pathOf(svg, /<path d="([^"]*)" fill="none" stroke="#d55e00"/);
    const floor = Number(/<svg x="68" y="([\d.]+)"/.exec(svg)![1]) + HEIGHT;
    const { max, min } = picture.x;
    for (const [index, [x, top]] of drawn.entries()) {
      const value = y.min * (y.max / y.min) ** ((floor - top!) / HEIGHT);
      expect(Math.abs(value / sent[index]! - 1)).toBeLessThan(1e-3);
      const at = min + ((x! - LEFT) / (RIGHT - LEFT)) * (max - min);
      expect(Math.abs(at - moments[index]!)).toBeLessThan((max - min) / 1e4);
    }
    expect(drawn).toHaveLength(sent.length);
  });

  /** A curve on an axis up to 10, as a saved picture. */
  const saved = (
    values: readonly number[],
    look: 'line' | 'band' = 'line',
    logarithmic = false,
  ): string =>
    pictureSvg(
      linePicture(WORDS, {
        series: [
          {
            label: 'odd',
            look,
            property: '--run-2',
            points: values.map((y, x) => ({ x, y: look === 'band' ? 0 : y })),
            ...(look === 'band' ? { upper: values.map((y, x) => ({ x, y })) } : {}),
          },
        ],
        x: { min: 0, max: values.length - 1 },
        y: { min: 1, max: 10 },
        logarithmic,
        format: String,
      }),
    );
  /** Numbers of points in each stretch of a path. */
  const stretches = (svg: string, pattern: RegExp): readonly number[] =>
    pattern
      .exec(svg)![1]!
      .split('M')
      .slice(1)
      .map((part) => part.split('L').length);
  const LINE = /<path d="([^"]*)" fill="none"/;

  it('has a gap at a value that is none, and draws on beyond it', () => {
    const svg = saved([1, 2, NaN, Infinity, 2, 3, NaN, 4]);
    expect(svg).not.toMatch(/NaN|Infinity/);
    expect(stretches(svg, LINE)).toEqual([2, 2, 1]);
    // A single value between gaps is a dot.
    expect(svg).toMatch(/h0" fill="none" [^>]*stroke-linecap="round"/);
  });

  it('has a gap where a logarithmic axis has no place for a value', () => {
    // Iterations that send nothing.
    expect(stretches(saved([5, 6, 0, 0, 7, 8], 'line', true), LINE)).toEqual([2, 2]);
    expect(stretches(saved([5, 6, 0, 0, 7, 8]), LINE)).toEqual([6]);
    const band = saved([5, 6, 0, 7, 8], 'band', true);
    expect(stretches(band, /<path d="([^"]*)" fill="[^"]*" fill-opacity/)).toEqual([
      4, 4,
    ]);
  });

  it('leaves out a series that a logarithmic axis has no place for', () => {
    const drawing = {
      series: [0, 5].map((value) => ({
        label: `always ${value}`,
        look: 'line' as const,
        property: '--run-2',
        points: [0, 1, 2].map((x) => ({ x, y: value })),
      })),
      x: { min: 0, max: 2 },
      y: { min: 1, max: 10 },
      format: String,
    };
    const labelsOf = (logarithmic: boolean): readonly string[] =>
      linePicture(WORDS, { ...drawing, logarithmic }).series.map(({ label }) => label);
    expect(labelsOf(true)).toEqual(['always 5']);
    expect(labelsOf(false)).toEqual(['always 0', 'always 5']);
  });

  it('shows a point between gaps, to which no line leads', () => {
    const points = [NaN, 3, NaN, 4, 5].map((y, x) => ({ x, y }));
    expect(lonePoints(points)).toEqual([false, true, false, false, false]);
    expect(lonePoints(points.slice(3))).toEqual([]);
  });
});

it('a saved chart is named by its run and itself', () => {
  expect(chartFileName('loss', 'svg', 'ab12')).toBe('gradwire-ab12-loss.svg');
  expect(chartFileName('comparison', 'csv')).toBe('gradwire-comparison.csv');
});
