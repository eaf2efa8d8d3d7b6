/**
 * The columns of a run as CSV: a cell for every field of an iteration's record, and for what the
 * test set gave after it in the row of rank 0. They are made from the records' schemas, so a
 * field that is added to one has a column; its name and place are given here if they are to be
 * others than its path, behind the named ones.
 */
import { z } from 'zod';
import { PHASES } from '../../shared/phases.ts';
import {
  evaluationRecordSchema,
  type EvaluationRecord,
} from '../../shared/records/evaluation.ts';
import {
  iterationRecordSchema,
  type IterationRecord,
} from '../../shared/records/iteration.ts';
import type { RunSummary } from '../../shared/rpc/rpc.ts';

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

/** Paths in the order of the file, with names that say the unit. */
const NAMED: readonly (readonly [path: string, name: string])[] = [
  ['iteration', 'iteration'],
  ['rank', 'rank'],
  ['at', 'at_ms'],
  ['wall', 'wall_ms'],
  ...PHASES.map((phase) => [`phases.${phase}`, `${phase}_ms`] as const),
  ['waitedFor', 'waited_for'],
  ['overlapped', 'overlapped_ms'],
  ['bytes.dense', 'dense_bytes'],
  ['bytes.payload', 'payload_bytes'],
  ['bytes.wireSent', 'wire_sent_bytes'],
  ['bytes.wireReceived', 'wire_received_bytes'],
  ['bytes.framingSent', 'framing_sent_bytes'],
  ['bytes.framingReceived', 'framing_received_bytes'],
  ['activations.dense', 'activations_dense_bytes'],
  ['activations.payload', 'activations_payload_bytes'],
  ['nnzLocal', 'nnz_local'],
  ['nnzReduced', 'nnz_reduced'],
  ['density', 'density'],
  ['residualNorm', 'residual_norm'],
  ['loss', 'loss'],
  ['metric', 'metric'],
  ['lr', 'lr'],
  ['epoch', 'epoch'],
  ['method', 'method'],
  ['collective', 'collective'],
  ['staleness', 'staleness'],
  ['trainerThread', 'trainer_thread'],
  ['drained', 'drained'],
  ['exchanged', 'exchanged'],
];

/** What a field's absence means, where that is not "not observed". */
const DEFAULTS: Readonly<Record<string, Cell>> = {
  staleness: 0,
  drained: 0,
  exchanged: 1,
};

export function iterationColumns({ emulated, ranks }: RunSummary): readonly Column[] {
  const paths = pathsOf(iterationRecordSchema);
  const named = new Map(NAMED);
  const others = paths.filter((path) => !named.has(path) && path !== 'type');
  return [
    ...NAMED.flatMap(([path, name]) => columnsAt(path, name, ranks)),
    ...others.flatMap((path) => columnsAt(path, snakeCase(path), ranks)),
    ...EVALUATED.map((path): Column => ({
      name: `evaluation_${snakeCase(path)}${path === 'wall' ? '_ms' : ''}`,
      cell: ({ evaluation }) => cellOf(valueAt(evaluation, path)),
    })),
    // The same in every row: rows are often taken without their run.
    { name: 'emulated', cell: () => emulated },
  ];
}

/** Without what the row or the run says already. */
const EVALUATED = pathsOf(evaluationRecordSchema).filter(
  (path) => !/^(type|iteration|at|metricKind)\b/.test(path),
);

function columnsAt(path: string, name: string, ranks: number): readonly Column[] {
  if (path === 'waitedFor') {
    return Array.from({ length: ranks }, (_, rank) => ({
      name: `${name}_${rank}_ms`,
      cell: ({ record }: Row) => record?.waitedFor?.[rank],
    }));
  }
  if (path === 'iteration') {
    const cell = ({ evaluation, record }: Row): Cell =>
      record?.iteration ?? evaluation?.iteration;
    return [{ name, cell }];
  }
  const cell = ({ record }: Row): Cell =>
    record && (cellOf(valueAt(record, path)) ?? DEFAULTS[path]);
  return [{ name, cell }];
}

/** Paths to the fields that hold values: `phases.compute`. */
export function pathsOf(schema: z.ZodObject, before = ''): readonly string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    let inner = field as z.ZodType;
    while (inner instanceof z.ZodOptional || inner instanceof z.ZodReadonly) {
      inner = inner.unwrap() as z.ZodType;
    }
    const path = before + name;
    return inner instanceof z.ZodObject ? pathsOf(inner, `${path}.`) : [path];
  });
}

function valueAt(record: object | undefined, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) {
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
