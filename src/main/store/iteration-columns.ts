/**
 * The columns of a run as CSV: a cell for every field of an iteration's record, and for what the
 * test set gave after it in the row of rank 0. They are made from the records' definitions, so
 * that a new field has a column.
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

export type Cell = string | number | undefined;

/** A row: the record of a rank's iteration, and the evaluation after it; one may be missing. */
export interface Row {
  readonly record?: IterationRecord | undefined;
  readonly evaluation?: EvaluationRecord | undefined;
}

export interface Column {
  readonly name: string;
  readonly cell: (row: Row) => Cell;
}

/** The columns of an iteration's fields: those that came later stand behind the first ones. */
const FIELDS = ITERATION_FIELDS.flatMap(({ fields, group }) =>
  Object.entries<IterationField>(fields).map(([name, field]) => ({
    path: group === '' ? [name] : [group, name],
    ...field,
  })),
).toSorted((a, b) => Number(a.isLater ?? false) - Number(b.isLater ?? false));

export function iterationColumns({ emulated, ranks }: RunSummary): readonly Column[] {
  return [
    {
      name: 'iteration',
      cell: ({ evaluation, record }) => record?.iteration ?? evaluation?.iteration,
    },
    { name: 'rank', cell: ({ record }) => record?.rank },
    ...FIELDS.flatMap((field) => columnsOf(field, ranks)),
    ...EVALUATED.map((path): Column => ({
      name: `evaluation_${snakeCase(path)}${path === 'wall' ? '_ms' : ''}`,
      cell: ({ evaluation }) => cellOf(valueAt(evaluation, path.split('.'))),
    })),
    // The same in every row: rows are often taken without their run.
    { name: 'emulated', cell: () => emulated },
  ];
}

/** Fields of an evaluation, without those that the row or the run has already. */
const EVALUATED = pathsOf(evaluationRecordSchema).filter(
  (path) => !/^(type|iteration|at|metricKind)\b/.test(path),
);

function columnsOf(
  { absent, column, path }: (typeof FIELDS)[number],
  ranks: number,
): readonly Column[] {
  if (path[0] === 'waitedFor') {
    return Array.from({ length: ranks }, (_, rank) => ({
      name: `${column}_${rank}_ms`,
      cell: ({ record }: Row) => record?.waitedFor?.[rank],
    }));
  }
  const cell = ({ record }: Row): Cell =>
    record && (cellOf(valueAt(record, path)) ?? absent);
  return [{ name: column, cell }];
}

/** Paths to the fields that hold values: `phases.compute`. */
function pathsOf(schema: z.ZodObject, before = ''): readonly string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    let inner = field as z.ZodType;
    while (inner instanceof z.ZodOptional || inner instanceof z.ZodReadonly) {
      inner = inner.unwrap() as z.ZodType;
    }
    const path = before + name;
    return inner instanceof z.ZodObject ? pathsOf(inner, `${path}.`) : [path];
  });
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

const snakeCase = (path: string): string =>
  path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
