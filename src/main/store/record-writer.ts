/**
 * Writes validated records into a run's tables and keeps its summary up: state, methods
 * used, last metric, and how far every rank has come with the mean loss there. Within a
 * transaction of the caller's.
 */
import {
  runRecordSchema,
  type IterationRecord,
  type JournalEntry,
  type RunRecord,
} from '../../shared/records.ts';
import type { RunRow } from './run-row.ts';
import type { Statements } from './statements.ts';

export type EventRecord = Exclude<RunRecord, IterationRecord>;

/**
 * Entries in order, without a gap to what the row says is stored.
 * @throws Error `internal:` for a gap or a record that does not fit its schema
 */
export function writeRecords(
  statements: Statements,
  run: RunRow,
  entries: readonly JournalEntry[],
): void {
  let sequence = run.last_sequence;
  for (const entry of entries) {
    if (entry.sequence !== sequence + 1) {
      throw new Error(
        `internal: run ${run.id}: record ${entry.sequence} follows ${sequence}`,
      );
    }
    sequence = entry.sequence;
    writeRecord(statements, run, entry);
  }
  statements.setLastSequence.run(sequence, run.number);
  advance(statements, run);
}

function writeRecord(statements: Statements, run: RunRow, entry: JournalEntry): void {
  const parsed = runRecordSchema.safeParse(entry.record);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(
      `internal: run ${run.id}: record ${entry.sequence} is not valid: ` +
        `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
    );
  }
  const record = parsed.data;
  const json = JSON.stringify(record);
  if (record.type === 'iteration') {
    const { iteration, rank } = record;
    statements.insertIteration.run(run.number, iteration, rank, entry.sequence, json);
  } else {
    statements.insertEvent.run(run.number, entry.sequence, json);
    applyEvent(statements, run, record);
  }
}

/** What an event changes in its run's summary. */
function applyEvent(statements: Statements, run: RunRow, record: EventRecord): void {
  switch (record.type) {
    case 'started':
      statements.setRunning.run(run.number);
      return;
    case 'evaluation':
      if (record.metric !== undefined)
        statements.setMetric.run(record.metric, run.number);
      return;
    case 'switch': {
      const { methods } = statements.runById.get(run.id)!;
      const used = JSON.parse(methods) as string[];
      if (used.at(-1) === record.to.method) return;
      used.push(record.to.method);
      statements.setMethods.run(JSON.stringify(used), run.number);
      return;
    }
    case 'done':
      statements.endRun.run(
        record.reason,
        record.at,
        record.metric ?? null,
        null,
        run.number,
      );
      return;
    case 'failed':
      statements.endRun.run(
        'failed',
        record.at,
        null,
        JSON.stringify(record.error),
        run.number,
      );
      return;
    case 'divergence':
    case 'similarity':
    case 'notice':
      return;
    default:
      record satisfies never;
  }
}

/** Moves the count of iterations that every rank has finished, and their last loss. */
function advance(statements: Statements, run: RunRow): void {
  let finished = run.iterations;
  let loss: number | null = null;
  for (const row of statements.finishedFrom.all({
    run: run.number,
    from: run.iterations,
  })) {
    if (row.iteration !== finished || row.ranks !== run.ranks) break;
    finished++;
    loss = row.loss;
  }
  if (loss !== null) statements.setProgress.run(finished, loss, run.number);
}
