/** The record that ends a run, from the endings of its nodes' journals. */
import { reportOf, rootCause } from '../../shared/errors/root-cause.ts';
import type { DoneRecord } from '../../shared/records/done.ts';
import type { FailedRecord } from '../../shared/records/failed.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { RecordTables } from './record-writer.ts';
import type { RunRow } from './run-row.ts';

/** The end of a run from its ended journals: all of them, unless it is ended early. */
export function endOf(
  { sql, statements }: Pick<RecordTables, 'sql' | 'statements'>,
  run: RunRow,
  { early = false } = {},
): DoneRecord | FailedRecord | undefined {
  const journals = statements.journals.all(run.number);
  if (!early && journals.some(({ ending }) => ending === null)) return undefined;
  if (sql.endingEvent.get(run.number) !== undefined) return undefined;
  return endingOf(journals);
}

/** Returns the failure that explains the others if a node failed; otherwise the result. */
export function endingOf(
  journals: readonly { readonly ending: string | null }[],
): DoneRecord | FailedRecord | undefined {
  const endings = journals.flatMap(({ ending }) =>
    ending === null ? [] : [JSON.parse(ending) as RunRecord],
  );
  const failures = endings.filter((ending) => ending.type === 'failed');
  if (failures.length === 0) return endings.find((ending) => ending.type === 'done');
  const cause = rootCause(failures.map(({ error }) => reportOf(error)));
  return failures.find(({ error }) => error === cause);
}
