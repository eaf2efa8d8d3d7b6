/** The formats of a run as a file. */
export const EXPORT_FORMATS = [
  { id: 'json', title: 'JSON, the whole run', media: 'application/json' },
  {
    id: 'jsonl',
    title: 'JSON Lines, a record per line',
    media: 'application/jsonl',
  },
  { id: 'csv', title: 'CSV, a row per rank and iteration', media: 'text/csv' },
  {
    id: 'parquet',
    title: 'Parquet (for pandas or polars), a row per rank and iteration',
    media: 'application/vnd.apache.parquet',
  },
  {
    id: 'tensorboard',
    title: 'TensorBoard, an event file',
    media: 'application/octet-stream',
  },
] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number]['id'];

export const EXPORT_FORMAT_IDS = EXPORT_FORMATS.map(({ id }) => id);

/** The formats whose text main makes, piece by piece. */
export const PIECE_FORMAT_IDS = ['json', 'jsonl', 'csv'] as const;

export type PieceFormat = (typeof PIECE_FORMAT_IDS)[number];

/** The formats of tables: others have all of a run in one file. */
export const TABLE_FORMAT_IDS = [
  'csv',
  'parquet',
] as const satisfies readonly ExportFormat[];
