/** Files of a comparison, the same from the page and the command. */
import { comparisonCsv } from './comparison-csv.ts';
import type { Comparison } from './comparison.ts';

/** A comparison as one line of JSON. */
export const comparisonJson = (comparison: Comparison): string =>
  `${JSON.stringify(comparison)}\n`;

export const COMPARISON_FILES: readonly {
  readonly id: string;
  readonly title: string;
  readonly name: string;
  readonly media: string;
  readonly text: (comparison: Comparison) => string;
}[] = [
  {
    id: 'json',
    title: 'JSON, the whole comparison',
    name: 'gradwire-comparison.json',
    media: 'application/json',
    text: comparisonJson,
  },
  {
    id: 'results',
    title: 'CSV, a row per run',
    name: 'gradwire-comparison-results.csv',
    media: 'text/csv',
    text: (comparison) => comparisonCsv(comparison, 'results'),
  },
  {
    id: 'curves',
    title: 'CSV, a row per point of the curves',
    name: 'gradwire-comparison-curves.csv',
    media: 'text/csv',
    text: (comparison) => comparisonCsv(comparison, 'curves'),
  },
];
