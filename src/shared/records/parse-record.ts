/**
 * Parses any value as a record, or throws a coded error that names the record and the invalid
 * field. Records are checked where they enter: at the supervisor, before the journal, and at
 * the store, which also gets journals of other versions.
 */
import type { z } from 'zod';
import { failure } from '../errors/errors.ts';
import { INTERPRETED } from '../checks/interpreted.ts';
import { runRecordSchema, type RunRecord } from './record-kinds.ts';

const DIVERGED = 'Training has diverged. Launch it again with a smaller optimizer.lr.';
const FOREIGN =
  'Use the same version of Gradwire everywhere. If you already do, report this as a bug.';

/** @throws GradwireError `RECORD_INVALID`, with the rank if the record names one */
export function parseRecord(raw: unknown): RunRecord {
  const parsed = runRecordSchema.safeParse(
    raw,
    valueAt(raw, ['type']) === 'iteration' ? undefined : INTERPRETED,
  );
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

/** `iteration record, rank 2, iteration 7`, as far as they can be read. */
function describe(raw: unknown): { description: string; rank: number | undefined } {
  const rank = countAt(raw, 'rank');
  const iteration = countAt(raw, 'iteration');
  const type = valueAt(raw, ['type']);
  const words = [
    typeof type === 'string' ? `${type} record` : 'a record without a type',
  ];
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
