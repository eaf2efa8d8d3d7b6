/** A chart's numbers as a table: exactly what is drawn, no more and no less. */
export interface TableTwin {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

interface TableRow {
  /** Distinct within the table. */
  readonly key: number | string;
  readonly cells: readonly string[];
}

/** The iterations of a bin in words: `812`, `812–819`. */
export function iterationLabel(bin: {
  readonly from: number;
  readonly to: number;
}): string {
  return bin.to - bin.from === 1 ? String(bin.from) : `${bin.from}–${bin.to - 1}`;
}
