/**
 * A result as one HTML file that needs no script, font or other file, so it can be sent
 * and kept. All untrusted text passes through `escapeMarkup`.
 */
import { capitalized } from '../../shared/words/capitalized.ts';
import {
  formatDateTime,
  formatElapsed,
  formatPercent,
} from '../../shared/words/units.ts';
import { chartSvg, swatchShape } from '../chart/chart-svg.ts';
import type { Chart } from '../chart/chart.ts';
import { escapeMarkup } from '../../shared/words/markup.ts';
import type { ResultTable } from '../figure.ts';
import type { Result } from '../result.ts';
import { historyOf } from '../figures/history.ts';
import { PAGE_STYLE } from './page-style.ts';
import { chanceText, ruleChangedText, verdictText } from './verdict-text.ts';
import { whatWouldChange } from './what-would-change.ts';

export function page(result: Result): string {
  const { full, paper, number, title, verdict } = result;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(`${paper.name}, ${number}: ${verdict}`)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<header>
<p class="source"><b>${text(`${paper.name}, ${number}`)}</b> · ${text(paper.title)}${full === undefined ? '' : ' · with the paper’s sizes'}</p>
<h1>${text(title)}</h1>
<div class="verdict ${verdict}"><strong>${capitalized(verdict)}</strong><p>${text(verdictText(result))}</p></div>
</header>
<section class="pair">${claim(result)}${ours(result)}</section>
<section><h2>Measured</h2>${chartFigure(result)}</section>
<section>${scrolling('Measured values', table(result.table))}</section>
<section><h2>The rule${result.ruleChangedAt === undefined ? ', stated before the runs' : ''}</h2><p>${text(result.rule)}</p>${ruleChange(result)}${findings(result)}${chance(result)}</section>
<section><h2>What would change the verdict</h2>${list('differences', whatWouldChange(result).map(text))}</section>
${history(result)}${settings(result)}<section><h2>What differs from the paper</h2>${list('differences', result.differences.map(text))}</section>
<section><h2>How it was measured</h2>${circumstances(result)}${runs(result)}</section>
<footer>A verdict is about the direction of the claim ${full === undefined ? 'at this scale' : 'with these data and settings'}, on this computer, and about nothing else.</footer>
</main>
</body>
</html>
`;
}

function claim({ claim: { text: said, quoted } }: Result): string {
  const items = quoted.map((one) => `${text(one.text)}<span>${text(one.where)}</span>`);
  return `<section><h2>The paper</h2><p>${text(said)}</p>${list('quoted', items)}</section>`;
}

function ours({ ours: figures, device }: Result): string {
  return (
    `<section><h2>Here</h2><p>${text(sentence(figures))}</p>` +
    `<p class="source">${text(`${device.processor}, ${device.cores} logical processors`)}</p></section>`
  );
}

function chartFigure({ chart, runs, title }: Result): string {
  const key = chart.series.map(
    ({ name }, index) => `${swatch(chart, index)}${text(name)}`,
  );
  return (
    `<figure class="card">${list('key', key)}` +
    scrolling('Chart', chartSvg(chart, title)) +
    `<figcaption>${text(chart.caption)}${text(withoutCurve(chart, runs))}</figcaption></figure>`
  );
}

/** A sentence about runs that a curve cannot have. */
function withoutCurve({ kind }: Chart, all: Result['runs']): string {
  const count = all.filter((run) => run.diverged === true).length;
  if (kind !== 'lines' || count === 0) return '';
  return ` ${count === 1 ? 'One run diverged and has no curve' : `${count} runs diverged and have no curve`}: the others are drawn.`;
}

const swatch = (chart: Chart, index: number): string =>
  `<svg viewBox="0 0 28 14" aria-hidden="true">${swatchShape(chart, index)}</svg>`;

/**
 * Wraps content that may be wider than a phone; it can be scrolled by keyboard, too.
 */
const scrolling = (name: string, content: string): string =>
  `<div class="scroll" role="region" aria-label="${text(name)}" tabindex="0">${content}</div>`;

function table({ columns, rows }: ResultTable): string {
  const head = columns.map((column) => `<th scope="col">${text(column)}</th>`).join('');
  const body = rows
    .map(([first, ...cells]) => {
      const values = cells.map((cell) => `<td>${text(cell)}</td>`).join('');
      return `<tr><th scope="row">${text(first ?? '')}</th>${values}</tr>`;
    })
    .join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function findings({ findings: all }: Result): string {
  const items = all.map(({ kind, measured, obstacle, outcome, text: said }) => {
    const role = kind === 'claim' ? '' : `<i>${kind}</i> `;
    const values = [
      ...(obstacle === undefined ? [] : [obstacle]),
      ...measured.map((one) =>
        one.name === undefined ? one.text : `${one.name}: ${one.text}`,
      ),
    ];
    const details = values.map((value) => `<small>${text(value)}</small>`).join('');
    return `<li class="${outcome}"><b>${outcome}</b><span>${role}${text(said)}${details}</span></li>`;
  });
  return `<ul class="findings">${items.join('')}</ul>`;
}

/** Says so if the rule is younger than the runs. */
function ruleChange({ ruleChangedAt }: Result): string {
  if (ruleChangedAt === undefined) return '';
  const said = ruleChangedText(ruleChangedAt);
  return `<p class="source">${text(said)}</p>`;
}

/** An explanation of the numbers beside the parts, if there are any. */
function chance(result: Result): string {
  if (result.falseVerdict === 0) return '';
  const said = chanceText(result);
  return `<p class="source">${text(
    `${said === undefined ? '' : `${said} `}Beside each part: the mean over the seeds, and between which values it ` +
      'lies nine times in ten; from where on the part is true, and from where on false; ' +
      'and how far from the latter a true mean must be for the part to hold in four of five ' +
      'such sweeps: what these runs could have seen.',
  )}</p>`;
}

/** Verdicts of before, if there was another one. */
function history(result: Result): string {
  const all = historyOf(result);
  return all.length === 0
    ? ''
    : `<section><h2>Earlier verdicts</h2>${list('differences', all.map(text))}</section>
`;
}

function settings({ settings: all }: Result): string {
  if (all.length === 0) return '';
  const items = all.map((one) => `${text(one.text)}<span>${text(one.because)}</span>`);
  return `<section><h2>The settings, and where they come from</h2>${list('quoted', items)}</section>
`;
}

function circumstances(result: Result): string {
  const { device, full, measuredAt, seconds, gradwire } = result;
  const entries: readonly (readonly [string, string])[] = [
    [
      'Computer',
      `${device.processor}, ${device.cores} logical processors, ${device.system}`,
    ],
    ...(device.load === undefined
      ? []
      : [
          [
            'Load',
            `${device.load.toFixed(1)} on average in the minute before`,
          ] as const,
        ]),
    ...(full === undefined ? [] : [['Machines', full.nodes.join(', ')] as const]),
    ...backends(result),
    ...otherWork(result),
    ...diverged(result),
    ['Measured', formatDateTime(measuredAt)],
    ['Took', `${formatElapsed(1000 * seconds)}, ${result.runs.length} runs`],
    ['Gradwire', gradwire],
  ];
  const shown = entries.map(
    ([name, value]) => `<dt>${name}</dt><dd>${text(value)}</dd>`,
  );
  return (
    `<dl>${shown.join('')}<dt>Again</dt>` +
    `<dd><code>gradwire reproduce ${text(again(result))}</code></dd></dl>`
  );
}

/** The backends that computed the runs, each with how many, if they are known. */
function backends({ runs: all }: Result): readonly (readonly [string, string])[] {
  const counts = new Map<string, number>();
  for (const { backend } of all) {
    if (backend !== undefined) counts.set(backend, (counts.get(backend) ?? 0) + 1);
  }
  if (counts.size === 0) return [];
  const only = counts.size === 1;
  const said = [...counts].map(([backend, runs]) =>
    only ? backend : `${backend}: ${runs} runs`,
  );
  return [['Backend', said.join('; ')]];
}

/** The most that other work took during a run. */
function otherWork({ runs: all }: Result): readonly (readonly [string, string])[] {
  const shares = all.flatMap(({ others }) => (others === undefined ? [] : [others]));
  return shares.length === 0
    ? []
    : [
        [
          'Other work',
          `at most ${formatPercent(Math.max(...shares))} of the processors during a run`,
        ],
      ];
}

/** The number of runs that diverged, and their cases, if any did. */
function diverged({ runs: all }: Result): readonly (readonly [string, string])[] {
  const of = all.filter((run) => run.diverged);
  if (of.length === 0) return [];
  const labels = [...new Set(of.map(({ label }) => label))].join('; ');
  return [
    [
      'Diverged',
      `${of.length} of ${all.length} runs (${labels}); they count as a network that guesses`,
    ],
  ];
}

function again({ figure, full, python }: Result): string {
  const by = python === undefined ? '' : ` --python ${python}`;
  if (full === undefined) return `${figure}${by}`;
  const data = full.data === undefined ? '' : ` --data ${full.data}`;
  return `${full.of} --full --nodes ${full.nodes.join(',')}${data}${by}`;
}

function runs(result: Result): string {
  const names = [...new Set(result.runs.flatMap(({ values }) => Object.keys(values)))];
  const rows = result.runs.map(({ diverged, label, seed, run, values }) => [
    diverged ? `${label}, diverged` : label,
    String(seed),
    ...names.map((name) => (values[name] === undefined ? '–' : plain(values[name]))),
    run,
  ]);
  const all = table({ columns: ['case', 'seed', ...names, 'run'], rows });
  return `<details><summary>All runs</summary>${scrolling('All runs', all)}</details>`;
}

/** Escapes text and keeps a number and its unit on one line. */
const text = (said: string): string =>
  escapeMarkup(said.replace(/(\d) (?=(?:%|ms|µs|s|bits)(?!\w))/g, '$1\u00a0'));

const list = (name: string, items: readonly string[]): string =>
  `<ul class="${name}">${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;

const plain = (value: number): string => String(Number(value.toPrecision(6)));

const sentence = (figures: string): string => `${capitalized(figures)}.`;
