/** The style of reports: light, for screens of any width and for paper. */
export const REPORT_STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #17202a; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.5rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid #d9dfe5; font-size: 1.125rem; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
.soft { color: #4b5865; }
.lead { font-size: 1.125rem; }
ul { margin: 0.5rem 0; padding-left: 1.25rem; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: 0.25rem 1.25rem; margin: 0; }
dt { color: #4b5865; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; padding: 0.875rem 1rem; overflow: auto; border: 1px solid #d9dfe5; border-radius: 6px; background: #f6f8fa; font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
figure { margin: 1rem 0 1.75rem; }
figure { overflow-x: auto; }
figure > svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { font-size: 0.8125rem; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.25rem 0.625rem; border-bottom: 1px solid #e6eaee; text-align: right; vertical-align: top; white-space: nowrap; }
th { color: #4b5865; font-weight: 550; }
.text { min-width: 5.5rem; text-align: left; white-space: normal; overflow-wrap: break-word; }
th:first-child, td:first-child { padding-left: 0; }
footer { margin-top: 3rem; font-size: 0.8125rem; }
@media print { main { max-width: none; padding: 0; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; } pre { white-space: pre-wrap; } }
`;
