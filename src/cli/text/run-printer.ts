/**
 * A run on stdout as it goes. With --json every record is one line, as it was recorded.
 * Without --json there is one live line on a terminal, or a line per second if there is
 * none, a line for each switch and warning, and at the end where the time went.
 */
import { describeMetric } from '../../shared/records/metric.ts';
import { workloadName } from '../../shared/spec/model-name.ts';
import {
  isProgram,
  plannedText,
  progressText,
} from '../../shared/spec/program-spec.ts';
import { replicaText, type DoneRecord } from '../../shared/records/done.ts';
import { endsRun, type JournalEntry } from '../../shared/records/journal-entry.ts';
import { kindOf, type RunRecord } from '../../shared/records/record-kinds.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { PhaseBreakdown, PhaseMeans } from './phase-breakdown.ts';
import { iterationsText, loss, milliseconds } from './quantities.ts';

export interface RunPrinter {
  /** Called once, before any record. */
  begin(summary: RunSummary): void;
  records(entries: readonly JournalEntry[], summary: RunSummary): void;
  /** Called before somebody else writes to the terminal: a live line makes way. */
  makeWay(): void;
  /** Called once, after the last record, or where the run ended without one. */
  end(summary: RunSummary): void;
}

/** The output: stdout, and how wide it is if it is a terminal. */
export interface Output {
  write(text: string): void;
  /** Width of the terminal; undefined if the output is none. */
  readonly columns: number | undefined;
}

/** A printer that prints nothing, for a run that is not followed. */
export const SILENT: RunPrinter = {
  begin: () => undefined,
  records: () => undefined,
  makeWay: () => undefined,
  end: () => undefined,
};

export class JsonPrinter implements RunPrinter {
  readonly #output: Output;
  #ended = false;

  constructor(output: Output) {
    this.#output = output;
  }

  begin(): void {
    // The records say it all.
  }

  records(entries: readonly JournalEntry[]): void {
    let lines = '';
    for (const { record } of entries) {
      lines += `${JSON.stringify(record)}\n`;
      if (endsRun(record)) this.#ended = true;
    }
    this.#output.write(lines);
  }

  makeWay(): void {
    // Every line is whole.
  }

  end(summary: RunSummary): void {
    // A run that never began, or was lost, has an error but no last record.
    if (this.#ended || summary.error === undefined) return;
    const record: RunRecord = {
      type: 'failed',
      at: summary.endedAt ?? Date.now(),
      error: summary.error as Extract<RunRecord, { type: 'failed' }>['error'],
    };
    this.#output.write(`${JSON.stringify(record)}\n`);
  }
}

const PROGRESS_MS = 1000;
const LIVE_MS = 100;
const CLEAR_LINE = '\r\u001b[2K';

export class HumanPrinter implements RunPrinter {
  readonly #output: Output;
  readonly #breakdown = new PhaseBreakdown();
  #recent = new PhaseMeans('recent');
  #lastProgress = -Infinity;
  #live = false;
  #startedAt: number | undefined;
  /** The machines of the run. */
  #nodes: readonly string[] = [];
  #isProgram = false;
  #last: Extract<RunRecord, { type: 'done' | 'failed' }> | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  begin(summary: RunSummary): void {
    this.#nodes = summary.nodes;
    this.#isProgram = isProgram(summary);
    this.#line(
      `run ${summary.id}: ${summary.name} (${workloadName(summary)}, ` +
        `${summary.ranks} ${summary.ranks === 1 ? 'rank' : 'ranks'}, ` +
        `${plannedText(summary.iterationsPlanned)})`,
    );
  }

  records(entries: readonly JournalEntry[], summary: RunSummary): void {
    for (const { record } of entries) this.#record(record);
    const interval = this.#output.columns === undefined ? PROGRESS_MS : LIVE_MS;
    const now = performance.now();
    if (this.#recent.count === 0 || now - this.#lastProgress < interval) return;
    this.#lastProgress = now;
    this.#progress(summary);
    this.#recent = new PhaseMeans('recent');
  }

  makeWay(): void {
    if (this.#live) this.#output.write(CLEAR_LINE);
    this.#live = false;
  }

  end(summary: RunSummary): void {
    const table = this.#breakdown.table();
    if (table !== undefined) this.#line(`\n${table}\n`);
    const last = this.#last;
    const took =
      this.#startedAt === undefined || last === undefined
        ? ''
        : ` in ${milliseconds(Math.max(0, last.at - this.#startedAt))}`;
    const iterations = last?.type === 'done' ? last.iterations : summary.iterations;
    const result = [`${summary.state} after ${iterationsText(iterations)}${took}`];
    if (last?.type === 'done') {
      if (last.loss !== undefined) result.push(`loss ${loss(last.loss)}`);
      if (last.metric !== undefined) {
        const metric = describeMetric(last.metric, last.metricKind);
        result.push(metric + replicaText(last));
      }
      if (last.divergence !== undefined) {
        const drift = last.divergence.toExponential(2);
        result.push(`replicas had drifted by ${drift} before they were averaged`);
      }
      if (last.consistent !== undefined) result.push(equalityText(last));
    }
    this.#line(result.join(', '));
  }

  #record(record: RunRecord): void {
    if (record.type === 'iteration') {
      this.#breakdown.add(record);
      this.#recent.add(record);
      return;
    }
    if (endsRun(record)) this.#last = record;
    const hasStarted = this.#startedAt !== undefined;
    // The machine of rank 0 also says how the run ends, so both are of one clock.
    if (record.type === 'started' && record.processes.some(({ rank }) => rank === 0)) {
      this.#startedAt ??= record.at;
    }
    const run = { nodes: this.#nodes, hasStarted, isProgram: this.#isProgram };
    for (const line of kindOf(record).printed(record, run)) this.#line(line);
  }

  #progress(summary: RunSummary): void {
    const { iterations, iterationsPlanned: planned } = summary;
    const widest = progressText(planned, planned).length;
    const parts = [progressText(iterations, planned).padStart(widest)];
    if (summary.loss !== undefined) parts.push(`loss ${loss(summary.loss)}`);
    if (summary.metric !== undefined)
      parts.push(describeMetric(summary.metric, summary.metricKind));
    parts.push(this.#recent.describe());
    const text = parts.join('  ');
    if (this.#output.columns === undefined) this.#output.write(`${text}\n`);
    else {
      // Cut to the width: a line that wraps cannot be cleared.
      this.#output.write(CLEAR_LINE + text.slice(0, this.#output.columns - 1));
      this.#live = true;
    }
  }

  /** A line that stays; the live line makes way and comes back with the next records. */
  #line(text: string): void {
    this.makeWay();
    this.#output.write(`${text}\n`);
  }
}

function equalityText({ attached, consistent }: DoneRecord): string {
  if (attached === true) {
    return consistent === true
      ? 'attached weights identical on all ranks'
      : 'attached weights differ between ranks';
  }
  return consistent === true ? 'all replicas identical' : 'replicas differ';
}
