/** The page and the table of results, from results that no run gave. */
import { describe, expect, test } from 'vitest';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { page } from '../../../src/reproduce/page/page.ts';
import { resultsDocument } from '../../../src/reproduce/page/results-document.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { parseResult, resultOf } from '../../../src/reproduce/result.ts';
import { chartPicture } from '../../../src/reproduce/chart/chart-picture.ts';
import { madeUp } from './made-up-result.ts';

const VOID = new Set(['meta', '!doctype']);
const CLOSED_SVG = /\/$/;

/** Opening and closing tags match, and attributes are quoted: what is wrong, or undefined. */
function malformed(html: string): string | undefined {
  const open: string[] = [];
  for (const [, slash, name, rest] of html.matchAll(/<(\/?)([!\w-]+)([^<>]*)>/g)) {
    const element = name!.toLowerCase();
    if (VOID.has(element) || CLOSED_SVG.test(rest!)) continue;
    if (/=[^"]/.test(rest!.replace(/"[^"]*"/g, '""'))) return `attributes: ${rest}`;
    if (slash === '') open.push(element);
    else if (open.pop() !== element) return `</${element}>`;
  }
  const loose = html
    .replace(/<style>[^]*?<\/style>/, '')
    .replace(/<[^<>]*>/g, '')
    .match(/[<>]/);
  return open.length > 0 ? `<${open.join('><')}> is open` : loose?.[0];
}

describe.each(figures.map((figure) => [figure.id, figure] as const))(
  '%s',
  (id, figure) => {
    test('has a page that is well formed and says everything', () => {
      const result = madeUp(figure);
      const html = page(result);
      expect(malformed(html)).toBeUndefined();
      expect(malformed(html.replace('</section>', ''))).toBeDefined();
      expect(html).not.toMatch(/false at most \d+\.\d{6}/);
      // A drawing has no lines to break.
      expect(html.replaceAll(/<svg[^]*?<\/svg>/g, '')).not.toMatch(/\d %/);
      const text = html
        .replaceAll('\u00a0', ' ')
        .replaceAll('&#39;', "'")
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&');
      for (const said of [
        ...[figure.title, figure.rule, figure.claim.text, result.verdict],
        ...figure.claim.quoted.flatMap(({ text: quoted, where }) => [quoted, where]),
        ...[...figure.differences, ...result.findings.map((finding) => finding.text)],
        ...result.table.rows.flat(),
        ...[
          '2 logical processors',
          '3.1 on average',
          '1 min 05 s',
          `gradwire reproduce ${id}`,
          'run-0',
        ],
      ]) {
        expect(text).toContain(said);
      }
      expect(html).not.toMatch(/<script|javascript:|https?:|url\(|@import/);
    });

    test('has a chart for light and for dark ground, with a legend', () => {
      const { chart, title } = madeUp(figure);
      const grounds = (['light', 'dark'] as const).map((ground) =>
        chartPicture(chart, title, ground),
      );
      expect(
        new Set(grounds.map((svg) => svg.replace(/<style>[^]*?<\/style>/, ''))),
      ).toHaveLength(1);
      for (const svg of grounds) {
        expect(malformed(svg)).toBeUndefined();
        expect(svg).not.toMatch(/<script|javascript:|href|url\(|@import/);
        const text = svg.replaceAll('&#39;', "'").replaceAll('&amp;', '&');
        for (const { name } of chart.series) expect(text).toContain(`>${name}</text>`);
        // No entry of the legend begins beyond the edge.
        for (const [, x] of svg.matchAll(/translate\((\d+) /g)) {
          expect(Number(x)).toBeLessThan(680);
        }
      }
    });

    test('has runs that the spec’s parser takes, with names of their own', () => {
      const names = plannedRuns(figure).map(({ spec }) => spec.name);
      expect(new Set(names).size).toBe(names.length);
      expect(names[0]).toMatch(`reproduce ${id}: `);
      expect(names).toHaveLength(figure.cases.length * figure.seeds.length);
    });

    test('has a result that is read back as it was written', () => {
      const result = madeUp(figure);
      expect(parseResult(JSON.stringify(result), 'a file')).toEqual(result);
    });
  },
);

test('earlier verdicts are on the page and in the document, at the scale that they are of', () => {
  const figure = findFigure('scalecom-table-2');
  const result = madeUp(figure);
  expect(figure.history).toHaveLength(2);
  for (const said of figure.history!) {
    const escaped = said.replaceAll('<', '&lt;').replaceAll(/(\d) %/g, '$1\u00a0%');
    expect(page(result)).toContain(`<li>${escaped}</li>`);
    expect(resultsDocument([result])).toContain(`\n- ${said}\n`);
  }
  const nodes = ['a'];
  for (const other of [
    { ...result, full: { of: figure.id, nodes } },
    madeUp(findFigure('scalecom-figure-3')),
    { ...result, figure: 'of-yesterday' },
  ]) {
    expect(page(other)).not.toContain('Earlier verdicts');
    expect(resultsDocument([other])).not.toContain('Earlier verdicts');
  }
});

test('a page of full scale names the machines, and how to repeat it there', () => {
  const html = page({
    ...madeUp(figures[0]!),
    full: { of: 'some-figure', nodes: ['one', 'two'], data: '/a & b' },
  });
  expect(html).toContain('<dt>Machines</dt><dd>one, two</dd>');
  expect(html).toContain(
    'gradwire reproduce some-figure --full --nodes one,two --data /a &amp; b<',
  );
  expect(malformed(html)).toBeUndefined();
});

test('a page says what computed its runs, and how to have it again', () => {
  const result = madeUp(findFigure('sparcml-figure-4'));
  expect(page(result)).not.toContain('<dt>Backend</dt>');
  const all = result.runs.map((run) => ({ ...run, backend: 'wasm' }));
  expect(page({ ...result, runs: all })).toContain('<dt>Backend</dt><dd>wasm</dd>');
  const torch = 'torch (A & B, PyTorch 2.13.0)';
  const runs = all.map((run) =>
    run.case.startsWith('lstm') ? { ...run, backend: torch } : run,
  );
  const mixed = { ...result, runs, python: 'venv/bin/python' };
  const html = page(mixed);
  expect(html).toContain(
    '<dt>Backend</dt><dd>wasm: 20 runs; torch (A &amp; B, PyTorch 2.13.0): 15 runs</dd>',
  );
  expect(html).toContain(
    'gradwire reproduce sparcml-figure-4 --python venv/bin/python<',
  );
  expect(malformed(html)).toBeUndefined();
  expect(parseResult(JSON.stringify(mixed), 'a.json')).toEqual(mixed);
  expect(resultsDocument([mixed])).toContain(', load 3.1 before, by PyTorch |');
  expect(resultsDocument([{ ...result, runs: all }])).not.toContain('by PyTorch');
});

test('a page says which runs diverged, and what they count as', () => {
  const result = madeUp(findFigure('scalecom-figure-1c'));
  expect(page(result)).not.toContain('iverged');
  const runs = result.runs.map((run) =>
    run.case === 'transformer-topk' ? { ...run, diverged: true as const } : run,
  );
  const html = page({ ...result, runs });
  expect(html).toContain(
    '<dt>Diverged</dt><dd>5 of 15 runs (transformer, local top-k); they count as a network that guesses</dd>',
  );
  expect(html.match(/transformer, local top-k, diverged</g)).toHaveLength(5);
  expect(html).toContain(' 5 runs diverged and have no curve: the others are drawn.');
  const written = JSON.stringify({ ...result, runs });
  expect(parseResult(written, 'a.json').runs).toEqual(runs);
});

test.each(
  figures
    .filter(({ guess }) => guess !== undefined)
    .map((one) => [one.id, one] as const),
)('%s has a verdict, a chart and a table if all but one case diverge', (_, figure) => {
  const [first] = figure.cases;
  const runs = figure.cases.flatMap(({ id }) =>
    figure.seeds.map((seed, index) => ({
      case: id,
      seed,
      run: `run-${id}-${index}`,
      values: figure.guess!(id),
      ...(id === first!.id
        ? { curve: [{ x: 1, y: 0.5 }] }
        : { diverged: true as const }),
    })),
  );
  const { device, gradwire, measuredAt, seconds } = madeUp(figure);
  const result = resultOf(figure, runs, { device, gradwire, measuredAt, seconds });
  expect(page(result)).toContain('they count as a network that guesses');
  expect(resultsDocument([result])).toContain(figure.id);
});

test('what a device or a run is called cannot become part of the page', () => {
  const html = page(madeUp(figures[0]!, `<script>"'&`));
  expect(html).not.toContain('<script');
  expect(html).toContain('A&lt;script&gt;&quot;&#39;&amp; processor');
  expect(malformed(html)).toBeUndefined();
});

test('the document has a row and a section for each result, bars in cells escaped', () => {
  const result = madeUp(figures[0]!);
  const document = resultsDocument([{ ...result, ours: 'a | b\nc' }]);
  const rows = document.split('\n').filter((line) => line.startsWith('|'));
  expect(rows).toHaveLength(3);
  expect(rows[2]).toContain('| a \\| b c |');
  expect(rows[2]).toContain(
    '| **refuted** | 2026-01-02; A processor, 2 logical processors, load 3.1 before |',
  );
  expect(document).toContain(`\n## ${result.figure}\n`);
  expect(document).not.toContain('Not measured yet');
  const two = resultsDocument([result], ['x-1', 'x-2']);
  expect(two).toContain('\n\nNot measured yet: `x-1`, `x-2`.\n\n## ');
});

test.each([
  ['no JSON', 'this is not JSON'],
  ['{}', '"type"'],
  [JSON.stringify({ ...madeUp(figures[0]!), verdict: 'perhaps' }), '"verdict"'],
  [JSON.stringify({ ...madeUp(figures[0]!), version: 1 }), '"version"'],
])('%#: what is no result is refused', (source, message) => {
  expect(() => parseResult(source, 'x.json')).toThrow(message);
});

test('an unknown figure is refused with the nearest and all', () => {
  expect(findFigure('dct-table-2').id).toBe('dct-table-2');
  expect(() => findFigure('dct-tabel-2')).toThrow(
    expect.objectContaining({
      code: 'FIGURE_UNKNOWN',
      next: expect.stringMatching(
        /^Did you mean "dct-table-2"\? Figures: .*dct-table-2/,
      ),
    }),
  );
});
