/**
 * The columns of the table of iterations: one for every field of an iteration's record, and for
 * what the test set gave after it in the row of rank 0. They are made from the records'
 * definitions, so that a new field has a column.
 */
import { z } from 'zod';
import {
  evaluationRecordSchema,
  type EvaluationRecord,
} from '../../shared/records/evaluation.ts';
import type { IterationField } from '../../shared/records/iteration-field.ts';
import {
  ITERATION_FIELDS,
  type IterationRecord,
} from '../../shared/records/iteration.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { snakeCase } from './column-name.ts';
import type { Cell, Column, ColumnKind } from './export-table.ts';

/** A row: the record of a rank's iteration, and the evaluation after it; one may be missing. */
export interface IterationRow {
  readonly record?: IterationRecord | undefined;
  readonly evaluation?: EvaluationRecord | undefined;
}

type IterationColumn = Column<IterationRow>;

/** The columns of an iteration's fields: those that came later stand behind the first ones. */
const FIELDS = ITERATION_FIELDS.flatMap(({ fields, group }) =>
  Object.entries<IterationField>(fields).map(([name, field]) => ({
    path: group === '' ? [name] : [group, name],
    ...field,
  })),
).toSorted((a, b) => Number(a.isLater ?? false) - Number(b.isLater ?? false));

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
    ...FIELDS.flatMap((field) => columnsOf(field, ranks)),
    ...EVALUATED.map(({ path, kind }): IterationColumn => ({
      name: `evaluation_${snakeCase(path)}${path === 'wall' ? '_ms' : ''}`,
      kind,
      cell: ({ evaluation }) => cellOf(valueAt(evaluation, path.split('.'))),
    })),
    // The same in every row: rows are often taken without their run.
    { name: 'emulated', kind: 'text', cell: () => emulated },
  ];
}

/** Fields of an evaluation, without those that the row or the run has already. */
const EVALUATED = pathsOf(evaluationRecordSchema).filter(
  ({ path }) => !/^(type|iteration|at|metricKind)\b/.test(path),
);

function columnsOf(
  { absent, column, path, schema }: (typeof FIELDS)[number],
  ranks: number,
): readonly IterationColumn[] {
  if (path[0] === 'waitedFor') {
    return Array.from({ length: ranks }, (_, rank) => ({
      name: `${column}_${rank}_ms`,
      kind: 'number' as const,
      cell: ({ record }: IterationRow) => record && waitFor(record, rank),
    }));
  }
  const cell = ({ record }: IterationRow): Cell =>
    record && (cellOf(valueAt(record, path)) ?? absent);
  return [{ name: column, kind: kindOf(schema), cell }];
}

/**
 * Records name only ranks that were waited for: 0 for the others, so that means are those over all
 * iterations. Nothing, where there was a wait and nobody knows for whom.
 */
const waitFor = (
  { phases, waitedFor }: IterationRecord,
  rank: number,
): number | undefined =>
  waitedFor?.[rank] ?? (waitedFor !== undefined || phases.wait === 0 ? 0 : undefined);

interface Field {
  readonly path: string;
  readonly kind: ColumnKind;
}

/** Paths to the fields that hold values: `phases.compute`. */
function pathsOf(schema: z.ZodObject, before = ''): readonly Field[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const inner = unwrapped(field as z.ZodType);
    const path = before + name;
    return inner instanceof z.ZodObject
      ? pathsOf(inner, `${path}.`)
      : [{ path, kind: kindOf(inner) }];
  });
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
