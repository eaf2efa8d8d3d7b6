/** The name of an exported file. */
import type {
  ExportFormat,
  ExportTableId,
} from '../../shared/records/export-format.ts';

/** `gradwire-ab12cd34.csv`, `gradwire-ab12cd34-switches.parquet`. */
export function exportFileName(
  run: string,
  format: ExportFormat,
  table: ExportTableId = 'iterations',
): string {
  const part = table === 'iterations' ? '' : `-${table}`;
  return `gradwire-${run}${part}.${format}`;
}
