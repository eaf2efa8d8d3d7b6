/**
 * The columns of the table of iterations: one for every field of an iteration's record, and for
 * what the test set gave after it in the row of rank 0. They are made from the records'
 * definitions, so that a new field has a column.
 */
import { z } from 'zod';
import {
  evaluationKind,
  type EvaluationRecord,
} from '../../shared/records/evaluation.ts';
import type { IterationField } from '../../shared/records/iteration-field.ts';
import {
  ITERATION_FIELDS,
  type IterationRecord,
} from '../../shared/records/iteration.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { Cell, Column, ColumnKind } from '../../shared/records/table-column.ts';
import { columnName, fieldColumn } from './column-name.ts';
import { columnsOfKind } from './record-tables.ts';

/** A row: the record of a rank's iteration, and the evaluation after it; one may be missing. */
export interface IterationRow {
  readonly record?: IterationRecord | undefined;
  readonly evaluation?: EvaluationRecord | undefined;
}

type IterationColumn = Column<IterationRow>;

/** Fields of an iteration's record, in the order of their columns. */
export const COLUMN_FIELDS = ITERATION_FIELDS.flatMap(({ fields, group }) =>
  Object.entries<IterationField>(fields).map(([name, field]) => ({
    path: group === '' ? [name] : [group, name],
    column: fieldColumn(group, name, field.unit),
    field,
  })),
).toSorted((a, b) => a.field.place - b.field.place);

/** The place of what is not a field of the iteration: fields with a higher one came later. */
const BESIDE = 2;

export function iterationColumns({
  emulated,
  ranks,
}: RunSummary): readonly IterationColumn[] {
  return [
    {
      name: 'iteration',
      kind: 'whole',
      cell: ({ evaluation, record }) => record?.iteration ?? evaluation?.iteration,
    },
    { name: 'rank', kind: 'whole', cell: ({ record }) => record?.rank },
    ...fieldColumns(ranks, (place) => place < BESIDE),
    ...EVALUATED.map(({ cell, kind, name }): IterationColumn => ({
      name: `evaluation_${name}`,
      kind,
      cell: ({ evaluation }) => evaluation && cell(evaluation),
    })),
    // The same in every row: rows are often taken without their run.
    { name: 'emulated', kind: 'text', cell: () => emulated },
    ...fieldColumns(ranks, (place) => place > BESIDE),
  ];
}

/** Columns of an evaluation that are in rows of iterations, too. A new one is in its table alone. */
const EVALUATED = columnsOfKind(evaluationKind).filter(({ name }) =>
  /^((averaged_)?(loss|metric)|samples|wall_ms)$/.test(name),
);

const fieldColumns = (
  ranks: number,
  isIn: (place: number) => boolean,
): readonly IterationColumn[] =>
  COLUMN_FIELDS.filter(({ field }) => isIn(field.place)).flatMap((each) =>
    columnsOf(each, ranks),
  );

function columnsOf(
  { column, field, path }: (typeof COLUMN_FIELDS)[number],
  ranks: number,
): readonly IterationColumn[] {
  const { absent, phase, schema, unit } = field;
  if (unwrapped(schema) instanceof z.ZodRecord) {
    return Array.from({ length: ranks }, (_, rank) => ({
      name: columnName(`${path.join('.')}.${rank}`, unit),
      kind: 'number' as const,
      cell: ({ record }: IterationRow) => record && partOf(record, path, phase, rank),
    }));
  }
  const cell = ({ record }: IterationRow): Cell =>
    record && (cellOf(valueAt(record, path)) ?? absent);
  return [{ name: column, kind: kindOf(schema), cell }];
}

/**
 * A rank's part of a phase. Records name only ranks that had one: 0 for the others, so that means are
 * those over all iterations. Nothing, where the phase took time and nobody knows for whom.
 */
function partOf(
  record: IterationRecord,
  path: readonly string[],
  phase: IterationField['phase'],
  rank: number,
): number | undefined {
  const parts = valueAt(record, path) as Readonly<Record<number, number>> | undefined;
  if (parts !== undefined) return parts[rank] ?? 0;
  return valueAt(record, ['phases', phase!]) === 0 ? 0 : undefined;
}

/** The kind of a field's cells: flags are 1 and 0, lists are JSON. */
function kindOf(schema: z.ZodType): ColumnKind {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodNumber) {
    return inner.format === 'safeint' ? 'whole' : 'number';
  }
  return inner instanceof z.ZodLiteral && typeof inner.value === 'boolean'
    ? 'whole'
    : 'text';
}

function unwrapped(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodReadonly) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}

function valueAt(record: object | undefined, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of path) {
    if (value === undefined || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** Lists are JSON: they have any length. */
function cellOf(value: unknown): Cell {
  if (value === undefined || typeof value === 'string' || typeof value === 'number') {
    return value;
  }
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value);
}
