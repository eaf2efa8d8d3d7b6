/**
 * Anything as a record, or a coded error that names the record and the field in which it
 * is none. Records are checked by it where they enter: at the supervisor, before the
 * journal, and at the store, which also gets journals of other versions.
 */
import type { z } from 'zod';
import { failure } from './errors.ts';
import { runRecordSchema, type RunRecord } from './records.ts';

const DIVERGED = 'Training has diverged: launch it again with a smaller optimizer.lr.';
const FOREIGN =
  'Use one version of Gradwire everywhere; if you do, report this: it is a bug.';

/** @throws GradwireError `RECORD_INVALID` with the rank, where the record names one */
export function parseRecord(raw: unknown): RunRecord {
  const parsed = runRecordSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const value = valueAt(raw, issue.path);
  const diverged = typeof value === 'number' && !Number.isFinite(value);
  const { description, rank } = describe(raw);
  const problem = diverged ? `is ${value}` : `is not valid: ${issue.message}`;
  const field = issue.path.length === 0 ? 'it' : issue.path.join('.');
  throw failure('RECORD_INVALID', `${description}: ${field} ${problem}`, {
    ...(rank === undefined ? {} : { rank }),
    next: diverged ? DIVERGED : FOREIGN,
  });
}

/** `iteration record, rank 2, iteration 7`: as much of it as can be read. */
function describe(raw: unknown): { description: string; rank: number | undefined } {
  const rank = countAt(raw, 'rank');
  const iteration = countAt(raw, 'iteration');
  const type = valueAt(raw, ['type']);
  const words = [typeof type === 'string' ? `${type} record` : 'a record of no type'];
  if (rank !== undefined) words.push(`rank ${rank}`);
  if (iteration !== undefined) words.push(`iteration ${iteration}`);
  return { description: words.join(', '), rank };
}

function countAt(raw: unknown, key: string): number | undefined {
  const value = valueAt(raw, [key]);
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : undefined;
}

function valueAt(raw: unknown, path: z.core.$ZodIssue['path']): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
