/** The formats of a run as a file. */
export const EXPORT_FORMATS = [
  { id: 'json', title: 'JSON, the whole run', media: 'application/json' },
  {
    id: 'jsonl',
    title: 'JSON Lines, a record per line',
    media: 'application/jsonl',
  },
  { id: 'csv', title: 'CSV, a row per rank and iteration', media: 'text/csv' },
] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number]['id'];

export const EXPORT_FORMAT_IDS = EXPORT_FORMATS.map(({ id }) => id);
