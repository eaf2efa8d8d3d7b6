/**
 * JSON in rows of the database, checked where a row is read: the file may have been damaged, or
 * written by another program. Records are checked before they are stored, and not again here.
 */
import { z } from 'zod';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { plainIssue } from '../../shared/checks/plain-issue.ts';

/** @throws GradwireError `HISTORY_ROW_INVALID`, with the run and the column */
export function storedJson<T>(
  text: string,
  schema: z.ZodType<T>,
  run: string,
  column: string,
): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidColumn(run, column, 'it is not JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidColumn(run, column, plainIssue(parsed.error.issues[0]!));
}

/**
 * Parses JSON of rows that count as absent where another version, or damage, gave them
 * another form.
 */
export function jsonOrNothing(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The part of every stored spec that is read. Older versions had other keys, so the rest is
 * not checked.
 */
const specSchema = z.looseObject({
  world: z.looseObject({ nodes: z.array(z.string()).min(1), ranks: z.int().min(1) }),
});

/** @throws as `storedJson` */
export const storedSpec = ({
  id,
  spec,
}: {
  readonly id: string;
  readonly spec: string;
}): ExperimentSpec =>
  storedJson(spec, specSchema, id, 'spec') as unknown as ExperimentSpec;

/** The error of a column of a run's row. */
export const invalidColumn = (
  run: string,
  column: string,
  why: string,
): GradwireError =>
  invalidRow(
    `run ${run}, ${column}: ${why}`,
    `Delete that run: gradwire runs delete ${run}, then gradwire runs purge ${run}.`,
  );

/** A row that no version of Gradwire wrote so. */
export const invalidRow = (what: string, next: string): GradwireError =>
  failure('HISTORY_ROW_INVALID', `the run history has a damaged row: ${what}`, {
    next,
  });

export const isInvalidRow = (error: unknown): error is GradwireError =>
  (error as Partial<GradwireError> | null)?.code === 'HISTORY_ROW_INVALID';
