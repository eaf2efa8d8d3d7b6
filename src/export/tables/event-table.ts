/** The table of all events of a run. */
import {
  eventText,
  isEvent,
  type RunEvent,
} from '../../shared/records/record-kinds.ts';
import type { ExportTable } from './export-table.ts';
import { logTable } from './log-table.ts';

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
