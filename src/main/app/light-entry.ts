/** A record as it is pushed to pages, which read what is large when they show it. */
import type { JournalEntry } from '../../shared/records/journal-entry.ts';

/** Leaves out the spans and messages of a trace, and the sums of buckets. */
export function lightened(entry: JournalEntry): JournalEntry {
  const { record } = entry;
  if (record.type === 'bucket-sums') {
    return { ...entry, record: { ...record, buckets: [] } };
  }
  if (record.type !== 'trace') return entry;
  return { ...entry, record: { ...record, buckets: [], spans: [], messages: [] } };
}
