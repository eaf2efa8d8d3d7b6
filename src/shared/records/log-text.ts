/** Lines of a run's merged log: its events as text, and what its ranks printed. */
import type { JournalEntry } from './journal-entry.ts';
import type { LogRecord } from './log.ts';
import { eventText, isEvent } from './record-kinds.ts';
import type { RunEvent } from './record-kinds.ts';

export interface LogLine {
  /** The record's sequence in the run: a stable id of the line. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly rank: number | undefined;
  readonly iteration: number | undefined;
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  /** Whether a rank printed it. */
  readonly printed: boolean;
}

const LEVELS = {
  plain: 'info',
  switch: 'info',
  good: 'info',
  warn: 'warning',
  bad: 'error',
} as const;

/**
 * The line of an entry in the log. Undefined if the record is neither an event nor printed output.
 * @param machine names a machine; default: as records have it
 */
export function logLine(
  { sequence, record }: JournalEntry,
  machine?: (node: string) => string,
): LogLine | undefined {
  if (record.type === 'log') return printedLine(sequence, record);
  if (!isEvent(record)) return undefined;
  const { tone, title, text, iteration } = eventText(record, { machine });
  return {
    sequence,
    at: record.at,
    rank: rankOf(record),
    iteration,
    level: LEVELS[tone],
    text:
      record.type === 'notice'
        ? text
        : [title, text].filter((part) => part !== '').join(': '),
    printed: false,
  };
}

function printedLine(sequence: number, record: LogRecord): LogLine {
  const { at, rank, iteration, level, text, cut, dropped } = record;
  const before = dropped === undefined ? '' : `[${dropped} lines left out] `;
  const behind = cut === undefined ? '' : ` [… ${cut} characters more]`;
  return {
    sequence,
    at,
    rank,
    iteration,
    level: level ?? 'info',
    text: `${before}${text}${behind}`,
    printed: true,
  };
}

function rankOf(event: RunEvent): number | undefined {
  if (event.type === 'notice') return event.rank;
  return event.type === 'failed' ? event.error.rank : undefined;
}

export interface LogFilter {
  readonly rank?: number | undefined;
  /** Matches anywhere in the text, ignoring case. */
  readonly text?: string | undefined;
}

export function passes(line: LogLine, { rank, text }: LogFilter): boolean {
  if (rank !== undefined && line.rank !== rank) return false;
  return (
    text === undefined ||
    text === '' ||
    line.text.toLowerCase().includes(text.toLowerCase())
  );
}
