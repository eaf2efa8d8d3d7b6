/**
 * The page's style, light or dark as the reader's system is set. Text has a contrast of at
 * least 4.5 with its background.
 */
import { CHART_COLOURS, CHART_FONT, CHART_STYLE } from '../chart/chart-style.ts';

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  ${CHART_COLOURS.light}
  --page: #f5f6f8; --sunken: #eef1f4; --line: #dde2e7; --accent: #0b63a5;
  --good: #0b6e4f; --good-soft: #e0f3ea;
  --bad: #a8231c; --bad-soft: #fbe8e6;
  --warn: #7a4c00; --warn-soft: #fdf1d8;
  --font: ${CHART_FONT};
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    ${CHART_COLOURS.dark}
    --page: #0d1115; --sunken: #0f1419; --line: #27313a; --accent: #6cb2ee;
    --good: #54c79a; --good-soft: #10291f;
    --bad: #f58a82; --bad-soft: #351816;
    --warn: #edb54d; --warn-soft: #2e2410;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.6 var(--font); font-variant-numeric: tabular-nums;
  -webkit-font-smoothing: antialiased;
}
main { max-width: 54rem; margin: 0 auto; padding: 3.5rem 1.5rem 4rem; }
h1, h2, p, ul, dl, dd, figure, table { margin: 0; padding: 0; }
.source { color: var(--soft); font-size: 0.875rem; }
.source b { color: var(--ink); font-weight: 620; }
h1 {
  margin-top: 0.5rem; font-size: clamp(1.5rem, 1.1rem + 2vw, 2.125rem); font-weight: 680;
  letter-spacing: -0.018em; line-height: 1.2; text-wrap: balance;
}
h2 { font-size: 1.0625rem; font-weight: 640; letter-spacing: -0.005em; }
.verdict {
  display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: baseline;
  margin-top: 1.75rem; padding: 1rem 1.25rem; border-radius: 0.625rem;
}
.verdict strong { font-size: 1.125rem; font-weight: 680; }
.verdict p { flex: 1 1 18rem; }
.confirmed { background: var(--good-soft); } .confirmed strong { color: var(--good); }
.refuted { background: var(--bad-soft); } .refuted strong { color: var(--bad); }
.undecided { background: var(--warn-soft); } .undecided strong { color: var(--warn); }
.checked { background: var(--sunken); } .checked strong { color: var(--soft); }
section { margin-top: 2.75rem; }
section > h2 { margin-bottom: 0.75rem; }
.pair { display: grid; gap: 2rem 2.5rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.pair section { margin-top: 0; }
ul { list-style: none; }
.quoted { margin-top: 0.875rem; }
.quoted li { padding: 0.375rem 0; border-top: 1px solid var(--line); font-size: 0.9375rem; }
.quoted li span { display: block; color: var(--soft); font-size: 0.8125rem; }
.card {
  background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem;
  padding: 1.25rem 1.25rem 1rem;
}
.key { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin-bottom: 0.75rem; font-size: 0.875rem; }
.key li { display: inline-flex; align-items: center; gap: 0.5rem; }
.key svg { width: 1.75rem; height: 0.875rem; flex: none; }
.scroll { overflow-x: auto; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll > svg { display: block; width: 100%; min-width: 36rem; height: auto; }
figcaption { margin-top: 0.75rem; color: var(--soft); font-size: 0.875rem; line-height: 1.5; }
${CHART_STYLE.trim()}
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: 0.8125rem; font-weight: 560; }
tbody th { font-weight: 560; }
.findings { margin-top: 1rem; }
.findings li { display: grid; grid-template-columns: 5rem 1fr; gap: 0.75rem; padding: 0.4375rem 0; border-top: 1px solid var(--line); font-size: 0.9375rem; }
.findings b { font-weight: 640; }
.holds b { color: var(--good); } .fails b { color: var(--bad); } .unclear b { color: var(--warn); }
.findings small { display: block; margin-top: 0.125rem; color: var(--soft); font-size: 0.8125rem; }
.findings i { color: var(--soft); font-style: normal; font-size: 0.8125rem; border: 1px solid var(--line); border-radius: 0.25rem; padding: 0 0.3em; }
.findings + .source { margin-top: 0.875rem; }
.differences li { position: relative; padding-left: 1.125rem; margin-top: 0.375rem; }
.differences li::before { content: '–'; position: absolute; left: 0; color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 1.5rem; font-size: 0.9375rem; }
dt { color: var(--soft); }
dd { overflow-wrap: anywhere; }
details { margin-top: 1rem; font-size: 0.9375rem; }
summary { cursor: pointer; color: var(--accent); width: max-content; max-width: 100%; }
details .scroll { margin-top: 0.75rem; }
code { font: 0.875em var(--mono); background: var(--sunken); border-radius: 0.25rem; padding: 0.1em 0.35em; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8125rem; }
@media (max-width: 34rem) {
  main { padding: 2rem 1rem 3rem; }
  .findings li { grid-template-columns: 4rem 1fr; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
`;
