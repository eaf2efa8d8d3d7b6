/**
 * The colours of charts, on light and on dark ground, and the style of their marks. Text has a
 * contrast of at least 4.5 with its ground, marks at least 3. Dashes keep a line visible under
 * another one.
 */

/** Custom properties, by the ground that they are for. */
export const CHART_COLOURS = {
  light:
    '--surface: #ffffff; --ink: #17202a; --soft: #4b5865; --strong: #8b98a5; --grid: #e4e8ec; ' +
    '--s0: #0b63a5; --s1: #c2410c; --s2: #0f766e; --s3: #86198f; --s4: #8a6100; --s5: #44546a;',
  dark:
    '--surface: #151b21; --ink: #e8edf2; --soft: #a4b0bb; --strong: #66737f; --grid: #222b33; ' +
    '--s0: #6cb2ee; --s1: #f4925a; --s2: #4ec9b4; --s3: #dd9ccb; --s4: #e3b341; --s5: #a4b0bb;',
} as const;

export const CHART_FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";

export const CHART_STYLE = `
svg text { font-family: ${CHART_FONT}; font-size: 13px; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .note { font-size: 12px; paint-order: stroke; stroke: var(--surface); stroke-width: 3; }
svg .label { fill: var(--ink); }
svg .grid { stroke: var(--grid); }
svg .axis { stroke: var(--strong); }
svg .reference { stroke: var(--strong); stroke-dasharray: 5 4; }
svg .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
svg .line.s2 { stroke-dasharray: 9 4; }
svg .line.s3 { stroke-dasharray: 3 4; }
svg .line.s4 { stroke-dasharray: 10 3 2 3; }
svg .error { fill: none; stroke: var(--c); stroke-width: 1.5; }
svg .edge { fill: none; stroke: var(--surface); stroke-width: 4; stroke-linecap: square; }
svg .edge + .error { stroke: var(--ink); }
svg .band { fill: var(--c); opacity: 0.16; }
svg .mark { fill: var(--c); stroke: var(--surface); stroke-width: 1; }
svg .hollow { fill: var(--surface); stroke: var(--c); stroke-width: 2; }
svg .bar { fill: var(--c); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); }
.s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); }
`;
