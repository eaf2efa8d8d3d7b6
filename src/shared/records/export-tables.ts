/** The tables of a run in exports, made from the kinds of records. */
import { iterationKind } from './iteration.ts';
import { EVENT_KINDS, OTHER_KINDS, type RECORD_KINDS } from './record-kinds.ts';

interface KindTable {
  readonly id: (typeof RECORD_KINDS)[number]['tables'][number]['id'];
  readonly title: string;
}

const tablesOf = (
  kinds: readonly { readonly tables: readonly KindTable[] }[],
): readonly KindTable[] => kinds.flatMap(({ tables }) => tables);

/** The tables of a run, one for each file in a format of tables: those of kinds, and all events. */
export const EXPORT_TABLES = [
  ...tablesOf([iterationKind, ...EVENT_KINDS]),
  { id: 'events' as const, title: 'Events, in words and whole' },
  ...tablesOf(OTHER_KINDS),
];

export type ExportTableId = (typeof EXPORT_TABLES)[number]['id'];

export const EXPORT_TABLE_IDS = EXPORT_TABLES.map(({ id }) => id);
