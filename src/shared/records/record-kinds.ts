/**
 * The kinds of records: what a run leaves behind. Workers make them, the supervisor journals
 * them with a sequence number, main stores them and passes them on, the CLI prints them. A
 * quantity that was not observed is absent, never 0. Times are in milliseconds, sizes in
 * bytes, `at` is wall-clock milliseconds since 1970.
 */
import { z } from 'zod';
import { INTERPRETED } from '../checks/interpreted.ts';
import { failure } from '../errors/errors.ts';
import { alertKind } from './alert.ts';
import { allocatedKind } from './allocated.ts';
import { bucketSumsKind } from './bucket-sums.ts';
import { bucketsKind } from './buckets.ts';
import { checkpointKind } from './checkpoint.ts';
import { comparisonKind } from './comparison.ts';
import { divergenceKind } from './divergence.ts';
import { doneKind } from './done.ts';
import { evaluationKind } from './evaluation.ts';
import { failedKind } from './failed.ts';
import { finishedKind } from './finished.ts';
import { forecastKind } from './forecast.ts';
import { interruptedKind } from './interrupted.ts';
import { iterationKind } from './iteration.ts';
import { logKind } from './log.ts';
import { noticeKind } from './notice.ts';
import { queuedKind } from './queued.ts';
import type {
  EventKind,
  EventNames,
  EventText,
  RecordKind,
  Thinning,
} from './record-kind.ts';
import { restartedKind } from './restarted.ts';
import { similarityKind } from './similarity.ts';
import { startedKind } from './started.ts';
import { switchKind } from './switch.ts';
import { tensorsKind } from './tensors.ts';
import { thinnedKind } from './thinned.ts';
import { traceKind } from './trace.ts';
import { utilisationKind } from './utilisation.ts';

const DIVERGED = 'Training has diverged. Launch it again with a smaller optimizer.lr.';
const FOREIGN =
  'Use the same version of Gradwire everywhere. If you already do, report this as a bug.';

export const EVENT_KINDS = [
  evaluationKind,
  switchKind,
  divergenceKind,
  comparisonKind,
  similarityKind,
  bucketsKind,
  noticeKind,
  alertKind,
  queuedKind,
  allocatedKind,
  tensorsKind,
  startedKind,
  forecastKind,
  checkpointKind,
  interruptedKind,
  restartedKind,
  thinnedKind,
  doneKind,
  failedKind,
  finishedKind,
] as const;

export const OTHER_KINDS = [
  logKind,
  traceKind,
  bucketSumsKind,
  utilisationKind,
] as const;

export const RECORD_KINDS = [iterationKind, ...EVENT_KINDS, ...OTHER_KINDS] as const;

type RecordOf<K extends readonly { readonly schema: z.ZodType }[]> = z.infer<
  K[number]['schema']
>;

export type RunRecord = RecordOf<typeof RECORD_KINDS>;

/**
 * All records of a run except its iterations, their traces, sums of buckets, the use of its machines
 * and what its ranks print.
 */
export type RunEvent = RecordOf<typeof EVENT_KINDS>;

type Schemas<K> = {
  -readonly [I in keyof K]: K[I] extends { readonly schema: infer S } ? S : never;
};
export const runRecordSchema = z.discriminatedUnion(
  'type',
  RECORD_KINDS.map(({ schema }) => schema) as Schemas<typeof RECORD_KINDS>,
);

/**
 * Any value as a record. Records are checked where they enter: at the supervisor, before the
 * journal; at main’s end of the connection; and at the store, which also gets journals of other
 * versions.
 * @throws GradwireError `RECORD_INVALID`, which names the record, its rank if it has one, and the
 * invalid field
 */
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

/** Whether it is an event: none of the records that are read only where they are shown. */
export const isEvent = (record: RunRecord): record is RunEvent =>
  EVENT_TYPES.has(record.type);

/** A kind as its record sees it: the record belongs to it. */
type KindOf<R extends RunRecord> = RecordKind<z.ZodType<R>>;
type EventKindOf<R extends RunEvent> = EventKind<z.ZodType<R>>;

const typeOf = ({
  schema,
}: {
  readonly schema: { shape: { type: { value: string } } };
}) => schema.shape.type.value;

const EVENT_TYPES: ReadonlySet<string> = new Set(EVENT_KINDS.map(typeOf));

const kinds: ReadonlyMap<string, unknown> = new Map(
  RECORD_KINDS.map((kind) => [typeOf(kind), kind]),
);

export const kindOf = <R extends RunRecord>({ type }: R): KindOf<R> =>
  kinds.get(type) as KindOf<R>;

/** Records of a kind that this version does not know, in a journal of another, stay whole. */
export const thinningOf = ({ type }: { readonly type: string }): Thinning =>
  (kinds.get(type) as RecordKind | undefined)?.thinning ?? 'history';

export const eventKindOf = <R extends RunEvent>({ type }: R): EventKindOf<R> =>
  kinds.get(type) as EventKindOf<R>;

const BY_NUMBER: EventNames = { rank: (rank) => `rank ${rank}`, machine: undefined };

/** An event in words. */
export const eventText = (
  event: RunEvent,
  names: Partial<EventNames> = {},
): EventText => eventKindOf(event).text(event, { ...BY_NUMBER, ...names });
