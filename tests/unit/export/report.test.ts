/** Reports: whatever users wrote is text in them, and the numbers are those of the records. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  EDGE_COLOUR,
  PHASE_COLOURS,
  RUN_COLOURS,
} from '../../../src/export/picture/colours.ts';
import { pictureSvg } from '../../../src/export/picture/picture-svg.ts';
import { comparisonReport } from '../../../src/export/report/comparison-report.ts';
import { reportHtml } from '../../../src/export/report/document.ts';
import { readReportedRun } from '../../../src/export/report/reported-run.ts';
import { runReport } from '../../../src/export/report/run-report.ts';
import { storedRuns } from '../../../src/cli/session/stored-runs.ts';
import { readComparedRun } from '../../../src/main/compare/read-run.ts';
import { compareRuns } from '../../../src/shared/comparison/comparison.ts';
import { PHASES } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { escapeMarkup } from '../../../src/shared/words/markup.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
} from '../main/sample-records.ts';

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(2)>]]>&amp;`;
const temporary = new TemporaryStore();
const { store } = temporary;
afterAll(() => {
  temporary.close();
});

function create(id: string, records: readonly RunRecord[]): void {
  const spec = sampleSpec({ name: HOSTILE, description: HOSTILE, iterations: 60 });
  store.create({ id, spec, switches: [], createdAt: 1_700_000_000_000 });
  store.records.append(id, entries(records));
}

const iterations = (from: number, to: number, wall: number): readonly RunRecord[] =>
  Array.from({ length: 2 * (to - from) }, (_, n) => ({
    ...iterationRecord(from + Math.floor(n / 2), n % 2),
    wall,
    loss: 1 / (n + 1),
  }));

create('whole', [
  started,
  { type: 'notice', at: 3, level: 'info', code: 'COLLECTIVE_CHOSEN', message: HOSTILE },
  ...iterations(0, 30, 8),
  switchRecord(30, 'none', 'topk'),
  ...iterations(30, 60, 4),
  {
    type: 'evaluation',
    iteration: 59,
    at: 9,
    loss: 0.25,
    metric: 0.875,
    samples: 9,
    wall: 1,
  },
  done,
]);
create('empty', []);
create('below', [
  started,
  ...[-8, -6, -4, -2].map((loss, n) => ({
    ...iterationRecord(Math.floor(n / 2), n % 2),
    loss,
  })),
  ...[-2, -4].map((loss, iteration): RunRecord => ({
    type: 'evaluation',
    iteration,
    at: 9,
    samples: 9,
    wall: 1,
    loss,
  })),
  done,
]);

const tags = (html: string): ReadonlySet<string> =>
  new Set(
    [...html.matchAll(/<([a-z!][a-z0-9]*)/gi)].map(([, tag]) => tag!.toLowerCase()),
  );

async function reportOf(id: string): Promise<string> {
  const run = await readReportedRun(storedRuns(store), id, 64);
  return reportHtml(runReport(run, `Made by ${HOSTILE}`));
}

const SAFE = [
  ...['!doctype', 'html', 'head', 'meta', 'title', 'style', 'body', 'main', 'header'],
  ...['section', 'h1', 'h2', 'p', 'ul', 'li', 'dl', 'dt', 'dd', 'pre', 'figure'],
  ...[
    'figcaption',
    'div',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'footer',
    'svg',
  ],
  ...['desc', 'rect', 'text', 'tspan', 'path', 'circle'],
];

test('a report has nothing but its own elements, and asks for nothing', async () => {
  for (const id of ['whole', 'empty']) {
    const html = await reportOf(id);
    expect([...tags(html)].filter((tag) => !SAFE.includes(tag))).toEqual([]);
    expect(html).not.toMatch(/<[^<>]*\s(on\w+|src|href)=/);
    // Scripts and requests are forbidden before anything else is read.
    expect(html.indexOf("default-src 'none'")).toBeLessThan(html.indexOf('<title>'));
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  }
});

test('a report says what the page says, with the numbers of the records', async () => {
  const html = await reportOf('whole');
  expect(html).toMatch(/\d+ % of the step is communication/);
  // The medians on both sides of the fence, and the mean of all.
  expect(html).toContain('wall 8.00 ms → 4.00 ms');
  expect(html).toContain('<td class="text">whole iteration</td><td>6.00 ms</td>');
  expect(html).toContain('87.5 %');
  expect(html.match(/<figure>/g)).toHaveLength(4);
  expect(await reportOf('empty')).toContain('Too few iterations for a verdict.');
});

test('a report of a comparison has the verdict and each run', () => {
  const runs = ['whole', 'empty'].map((id) => readComparedRun(store, id));
  const comparison = compareRuns(runs);
  const html = reportHtml(comparisonReport(comparison, 'Made.'));
  expect([...tags(html)].filter((tag) => !SAFE.includes(tag))).toEqual([]);
  expect(html).toContain(
    `<p class="lead">${escapeMarkup(comparison.verdict.text)}</p>`,
  );
  for (const { id } of runs) expect(html).toContain(`<td class="text">${id}</td>`);
});

test('pictures of a loss below zero hold all of it', async () => {
  const run = await readReportedRun(storedRuns(store), 'below', 64);
  const pictures = runReport(run, 'Made.').sections.flatMap(({ blocks }) => blocks);
  const comparison = compareRuns([readComparedRun(store, 'below')]);
  const compared = comparisonReport(comparison, 'Made.').sections.flatMap(
    ({ blocks }) => blocks,
  );
  const axes = [...pictures, ...compared].flatMap((block) =>
    block.kind === 'picture' && /loss/i.test(block.picture.title)
      ? [block.picture.y]
      : [],
  );
  // The least of a rank is -8 there; runs are compared by the test set, from -4 to -2.
  expect(axes.map(({ max, min }) => [min, max])).toEqual([
    [-10, 0],
    [-5, 0],
  ]);
});

test('a picture is whole where there is little to draw', () => {
  const axis = { label: '', min: 0, max: 1, format: String };
  const svg = pictureSvg({
    title: HOSTILE,
    unit: 'ms\u0000',
    caption: '',
    x: { ...axis, max: 0 },
    y: { ...axis, min: 1, max: 10, logarithmic: true },
    series: [
      { label: 'none', look: 'band', colour: '#000000', points: [] },
      { label: HOSTILE, look: 'dots', colour: '#000000', points: [{ x: 0, y: 1 }] },
    ],
  });
  expect(svg).not.toMatch(/NaN|Infinity|undefined|\0/);
  expect([...tags(svg)].filter((tag) => !SAFE.includes(tag))).toEqual([]);
});

const css = readFileSync(
  path.join(import.meta.dirname, '../../../src/renderer/styles/tokens.css'),
  'utf8',
);
const dark = css.slice(css.indexOf("[data-theme='dark']"));
const light = css.slice(0, css.length - dark.length);
const colourIn = (theme: string, name: string): string | undefined =>
  theme.match(new RegExp(`--${name}: (#[0-9a-f]+);`))?.[1];

test('pictures have the colours of the light page', () => {
  for (const [phase, of] of Object.entries(PHASE_COLOURS)) {
    expect(colourIn(light, `phase-${phase}`), phase).toBe(of);
  }
  expect(colourIn(light, 'phase-edge')).toBe(EDGE_COLOUR);
  expect(RUN_COLOURS.map((_, index) => colourIn(light, `run-${index + 1}`))).toEqual([
    ...RUN_COLOURS,
  ]);
});

/** Contrast of two colours as WCAG 2.2 defines it. */
function contrastOf(...colours: readonly [string, string]): number {
  const [low, high] = colours
    .map((colour) => {
      const [red, green, blue] = [1, 3, 5].map((at) => {
        const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue! + 0.05;
    })
    .toSorted((a, b) => a - b);
  return high! / low!;
}

test.each([
  ['light', light],
  ['dark', dark],
])('each phase stands out from the line between two phases: %s', (_, theme) => {
  const edge = colourIn(theme, 'phase-edge')!;
  for (const phase of PHASES) {
    const colour =
      colourIn(theme, `phase-${phase}`) ?? colourIn(light, `phase-${phase}`);
    expect(contrastOf(colour!, edge), phase).toBeGreaterThanOrEqual(3);
  }
  expect(contrastOf('#ffffff', '#000000')).toBeCloseTo(21, 10);
});
