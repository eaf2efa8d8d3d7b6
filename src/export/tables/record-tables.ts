/** Tables with a row for each record of a kind, made from the columns of the kind's definition. */
import { RECORD_KINDS, type RunRecord } from '../../shared/records/record-kinds.ts';
import type { RecordKind, RecordSchema } from '../../shared/records/record-kind.ts';
import type { Column } from '../../shared/records/table-column.ts';
import type { z } from 'zod';
import type { ExportTable } from './export-table.ts';
import { logTable } from './log-table.ts';

/** Columns of the table that has a row for each record of a kind; none if it has no such table. */
export const columnsOfKind = <S extends RecordSchema>({
  tables,
}: RecordKind<S>): readonly Column<z.infer<S>>[] =>
  tables.flatMap(({ columns }) => (columns === 'parts' ? [] : columns));

/** Tables with a row for each record, of all kinds, by their ids. */
export const RECORD_TABLES: ReadonlyMap<string, ExportTable<RunRecord>> = new Map(
  RECORD_KINDS.flatMap(({ schema, tables }) => {
    const { type } = schema.shape;
    return tables.flatMap(({ columns, id }) =>
      columns === 'parts'
        ? []
        : [
            [
              id as string,
              logTable(columns as readonly Column<RunRecord>[], ({ record }) =>
                record.type === type.value ? [record] : [],
              ),
            ] as const,
          ],
    );
  }),
);
