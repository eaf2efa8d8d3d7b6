/**
 * A run on stdout as it goes. With --json every record is one line, as it was recorded.
 * Without --json there is one live line on a terminal, or a line per second if there is
 * none, a line for each switch and warning, and at the end where the time went.
 */
import { backendText } from '../../shared/backend-text.ts';
import { describeEmulated } from '../../shared/emulated-network.ts';
import { describePlan, describeSwitch } from '../../shared/exchange-plan.ts';
import { replicaText } from '../../shared/event-text.ts';
import { describeMetric } from '../../shared/metric.ts';
import { workloadName } from '../../shared/model-name.ts';
import {
  describeAllocated,
  describeQueued,
  queueAdvice,
} from '../../shared/queue-text.ts';
import { endsRun, type JournalEntry, type RunRecord } from '../../shared/records.ts';
import { describeState } from '../../shared/switched-state.ts';
import { describeThinned } from '../../shared/thinned-text.ts';
import type { RunSummary } from '../../shared/rpc.ts';
import { PhaseBreakdown, PhaseMeans } from './phase-breakdown.ts';
import { loss, milliseconds } from './quantities.ts';
import { describePlaces, ranksOn } from './rank-places.ts';

export interface RunPrinter {
  /** Once, before any record. */
  begin(summary: RunSummary): void;
  records(entries: readonly JournalEntry[], summary: RunSummary): void;
  /** Once, after the last record, or where the run ended without one. */
  end(summary: RunSummary): void;
}

/** Where it prints: stdout, and how wide it is if it is a terminal. */
export interface Output {
  write(text: string): void;
  /** Undefined if not a terminal. */
  readonly columns: number | undefined;
}

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
/**
 * Codes of notices that say what was chosen: by `auto`, in place of what the spec says, or of
 * a machine's addresses.
 */
const CHOICES: ReadonlySet<string> = new Set([
  'COLLECTIVE_CHOSEN',
  'COLLECTIVE_CHANGED',
  'MOMENTUM_REPLACED',
  'PEER_ADDRESS',
]);
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
  #last: Extract<RunRecord, { type: 'done' | 'failed' }> | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  begin(summary: RunSummary): void {
    this.#nodes = summary.nodes;
    this.#line(
      `run ${summary.id}: ${summary.name} (${workloadName(summary)}, ` +
        `${summary.ranks} ${summary.ranks === 1 ? 'rank' : 'ranks'}, ` +
        `${summary.iterationsPlanned} ${summary.iterationsPlanned === 1 ? 'iteration' : 'iterations'})`,
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

  end(summary: RunSummary): void {
    const table = this.#breakdown.table();
    if (table !== undefined) this.#line(`\n${table}\n`);
    const last = this.#last;
    const took =
      this.#startedAt === undefined || summary.endedAt === undefined
        ? ''
        : ` in ${milliseconds(summary.endedAt - this.#startedAt)}`;
    const iterations = last?.type === 'done' ? last.iterations : summary.iterations;
    const result = [`${summary.state} after ${iterations} iterations${took}`];
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
      result.push(last.consistent ? 'all replicas identical' : 'replicas differ');
    }
    this.#line(result.join(', '));
  }

  #record(record: RunRecord): void {
    switch (record.type) {
      case 'iteration':
        this.#breakdown.add(record);
        this.#recent.add(record);
        return;
      case 'started': {
        const { processes } = record;
        if (this.#startedAt !== undefined) {
          this.#line(ranksOn(processes, this.#nodes));
          return;
        }
        this.#startedAt = record.at;
        this.#line(
          `started on ${backendText(record)}: ${record.parameters} parameters, ` +
            describePlan(record.plan) +
            (record.emulated === undefined
              ? ''
              : `; network ${describeEmulated(record.emulated)}`),
        );
        const places =
          processes.length < record.ranks
            ? ranksOn(processes, this.#nodes)
            : describePlaces(processes, this.#nodes);
        if (places !== undefined) this.#line(places);
        return;
      }
      case 'switch': {
        const residual =
          record.residual === 'none' ? '' : `, residual ${record.residual}`;
        const described = describeState(record);
        const state = described === undefined ? '' : `, ${described}`;
        const weights = record.resynchronized ? ', weights averaged' : '';
        this.#line(
          `── iteration ${record.fence}: ${describeSwitch(record.from, record.to)}` +
            `${residual}${state}${weights}`,
        );
        return;
      }
      case 'notice':
        if (record.level === 'warning') {
          const who = record.rank === undefined ? '' : `rank ${record.rank}: `;
          this.#line(`warning: ${who}${record.message}`);
        } else if (CHOICES.has(record.code)) this.#line(record.message);
        return;
      case 'done':
      case 'failed':
        this.#last = record;
        return;
      case 'queued': {
        this.#line(describeQueued(record));
        const advice = queueAdvice(record);
        if (advice !== undefined) this.#line(advice);
        return;
      }
      case 'allocated':
        this.#line(describeAllocated(record));
        return;
      case 'interrupted':
        this.#line(`interrupted at ${record.node}: ${record.error.message}`);
        return;
      case 'restarted': {
        const { iteration, processes } = record;
        const s = processes.length === 1 ? 's' : '';
        const how =
          iteration === 0
            ? `start${s} again from the beginning`
            : `resume${s} from a checkpoint`;
        this.#line(
          `── iteration ${iteration}: ${ranksOn(processes, this.#nodes)} ${how}`,
        );
        return;
      }
      case 'thinned':
        this.#line(`warning: ${describeThinned(record)}`);
        return;
      case 'checkpoint':
      case 'finished':
        return;
      case 'evaluation':
      case 'divergence':
        return; // the summary has the newest evaluation, the end the divergence
      case 'log':
        // All of them: gradwire runs log.
        if (record.level !== undefined) {
          this.#line(`rank ${record.rank} printed: ${record.text}`);
        }
        return;
      case 'similarity':
      case 'comparison':
      case 'buckets':
        return; // for records: --json and exports have it
      default:
        record satisfies never;
    }
  }

  #progress(summary: RunSummary): void {
    const planned = String(summary.iterationsPlanned);
    const parts = [`${String(summary.iterations).padStart(planned.length)}/${planned}`];
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
    this.#output.write(`${this.#live ? CLEAR_LINE : ''}${text}\n`);
    this.#live = false;
  }
}
