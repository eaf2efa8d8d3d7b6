/** The merged log of a run on stdout: a line each, or with --json the records. */
import { clockOffset } from '../../shared/words/display-units.ts';
import { machineName } from '../../shared/machines/machine-names.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import {
  logLine,
  passes,
  type LogFilter,
  type LogLine,
} from '../../shared/records/log-text.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { Output, RunPrinter } from './run-printer.ts';

export class LogPrinter implements RunPrinter {
  readonly #output: Pick<Output, 'write'>;
  readonly #filter: LogFilter;
  readonly #json: boolean;

  constructor(output: Pick<Output, 'write'>, filter: LogFilter, json: boolean) {
    this.#output = output;
    this.#filter = filter;
    this.#json = json;
  }

  begin(): void {
    // The lines say it all.
  }

  records(
    entries: readonly JournalEntry[],
    { nodes }: Pick<RunSummary, 'nodes'>,
  ): void {
    let printed = '';
    for (const entry of entries) {
      const line = logLine(entry, (node) => machineName(node, nodes));
      if (line === undefined || !passes(line, this.#filter)) continue;
      printed += `${this.#json ? JSON.stringify(entry.record) : lineText(line)}\n`;
    }
    if (printed !== '') this.#output.write(printed);
  }

  makeWay(): void {
    // Every line is whole.
  }

  end(): void {
    // The lines have said it all.
  }
}

/** `2026-03-01 14:02:03.456  rank 2  iteration 34  warning  text` */
function lineText({ at, rank, iteration, level, text }: LogLine): string {
  const columns = [
    shownTime(at),
    rank === undefined ? 'run' : `rank ${rank}`,
    ...(iteration === undefined ? [] : [`iteration ${iteration}`]),
    ...(level === 'info' ? [] : [level]),
    text,
  ];
  return columns.join('  ');
}

function shownTime(at: number): string {
  return new Date(at + clockOffset(at))
    .toISOString()
    .replace('T', ' ')
    .replace('Z', '');
}
