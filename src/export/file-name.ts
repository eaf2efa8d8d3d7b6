/** The name of an exported file. */
import type { ExportFormat } from '../shared/records/export-format.ts';
import type { ExportTableId } from '../shared/records/export-tables.ts';

/**
 * `gradwire-ab12cd34.csv`, `gradwire-ab12cd34-switches.parquet`. TensorBoard finds its files by
 * their names: `events.out.tfevents.gradwire-ab12cd34`.
 */
export function exportFileName(
  run: string,
  format: ExportFormat,
  table: ExportTableId = 'iterations',
): string {
  if (format === 'tensorboard') return `events.out.tfevents.gradwire-${run}`;
  const part = table === 'iterations' ? '' : `-${table}`;
  return `gradwire-${run}${part}.${format}`;
}

/** Kinds of files that charts are saved as. */
export type ChartFormat = 'svg' | 'png' | 'csv';

/** `gradwire-ab12cd34-loss.svg`; of a chart that is not of one run: `gradwire-comparison.csv`. */
export const chartFileName = (
  chart: string,
  format: ChartFormat,
  run?: string,
): string => `gradwire-${run === undefined ? '' : `${run}-`}${chart}.${format}`;
