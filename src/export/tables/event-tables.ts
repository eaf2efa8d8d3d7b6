/** Tables of what a run says besides its iterations: evaluations, switches, all events. */
import { describeSwitch } from '../../shared/plan/exchange-plan.ts';
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { ACCURACY } from '../../shared/records/metric.ts';
import {
  eventText,
  isEvent,
  type RunEvent,
} from '../../shared/records/record-kinds.ts';
import type { SwitchRecord } from '../../shared/records/switch.ts';
import type { Column, ExportTable } from './export-table.ts';
import { logPages } from './run-reader.ts';

/** A table with a row for each entry of the log that it takes. */
function logTable<R>(
  columns: readonly Column<R>[],
  take: (entry: JournalEntry) => readonly R[],
): ExportTable<R> {
  return {
    columns: () => columns,
    async *pages(reader, { id }) {
      for await (const page of logPages(reader, id)) {
        yield { rows: page.flatMap(take), done: 0 };
      }
      yield { rows: [], done: 1 };
    },
  };
}

/** The table of evaluations on the test set. */
export const evaluationTable: ExportTable<EvaluationRecord> = logTable(
  [
    { name: 'iteration', kind: 'whole', cell: ({ iteration }) => iteration },
    { name: 'at_ms', kind: 'number', cell: ({ at }) => at },
    { name: 'loss', kind: 'number', cell: ({ loss }) => loss },
    { name: 'metric', kind: 'number', cell: ({ metric }) => metric },
    { name: 'averaged_loss', kind: 'number', cell: ({ averaged }) => averaged?.loss },
    {
      name: 'averaged_metric',
      kind: 'number',
      cell: ({ averaged }) => averaged?.metric,
    },
    {
      name: 'metric_name',
      kind: 'text',
      cell: ({ metricKind }) => (metricKind ?? ACCURACY).id,
    },
    { name: 'samples', kind: 'whole', cell: ({ samples }) => samples },
    { name: 'wall_ms', kind: 'number', cell: ({ wall }) => wall },
  ],
  ({ record }) => (record.type === 'evaluation' ? [record] : []),
);

/** The table of switches: the plans before and after each, whole as JSON. */
export const switchTable: ExportTable<SwitchRecord> = logTable(
  [
    { name: 'iteration', kind: 'whole', cell: ({ fence }) => fence },
    { name: 'at_ms', kind: 'number', cell: ({ at }) => at },
    { name: 'epoch', kind: 'whole', cell: ({ epoch }) => epoch },
    { name: 'text', kind: 'text', cell: ({ from, to }) => describeSwitch(from, to) },
    { name: 'from_method', kind: 'text', cell: ({ from }) => from.method },
    { name: 'to_method', kind: 'text', cell: ({ to }) => to.method },
    { name: 'from_collective', kind: 'text', cell: ({ from }) => from.collective },
    { name: 'to_collective', kind: 'text', cell: ({ to }) => to.collective },
    { name: 'residual', kind: 'text', cell: ({ residual }) => residual },
    { name: 'state', kind: 'text', cell: ({ state }) => state },
    {
      name: 'state_dropped',
      kind: 'text',
      cell: ({ stateDropped }) => stateDropped?.join(' '),
    },
    {
      name: 'resynchronized',
      kind: 'whole',
      cell: ({ resynchronized }) => Number(resynchronized),
    },
    { name: 'from', kind: 'text', cell: ({ from }) => JSON.stringify(from) },
    { name: 'to', kind: 'text', cell: ({ to }) => JSON.stringify(to) },
  ],
  ({ record }) => (record.type === 'switch' ? [record] : []),
);

interface EventRow {
  readonly sequence: number;
  readonly event: RunEvent;
}

/** A number of those that only some kinds of events have. */
const numberOf =
  (name: string) =>
  ({ event }: EventRow): number | undefined => {
    const value = (event as Readonly<Partial<Record<string, unknown>>>)[name];
    return typeof value === 'number' ? value : undefined;
  };

/** The table of all events, in the order of their arrival: in words, and whole as JSON. */
export const eventTable: ExportTable<EventRow> = logTable(
  [
    { name: 'sequence', kind: 'whole', cell: ({ sequence }) => sequence },
    { name: 'at_ms', kind: 'number', cell: ({ event }) => event.at },
    { name: 'type', kind: 'text', cell: ({ event }) => event.type },
    {
      name: 'iteration',
      kind: 'whole',
      cell: ({ event }) => eventText(event).iteration,
    },
    { name: 'rank', kind: 'whole', cell: numberOf('rank') },
    { name: 'title', kind: 'text', cell: ({ event }) => eventText(event).title },
    { name: 'text', kind: 'text', cell: ({ event }) => eventText(event).text },
    { name: 'record', kind: 'text', cell: ({ event }) => JSON.stringify(event) },
  ],
  ({ record, sequence }) => (isEvent(record) ? [{ sequence, event: record }] : []),
);
