/**
 * A sweep on stdout as it goes: a line for each run that has ended and, on a terminal, a live one
 * for those in progress. With --json each line is an object: `sweep`, a `run` each, then `end`.
 */
import { formatError } from '../../shared/errors/errors.ts';
import { describeMetric } from '../../shared/records/metric.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { progressText } from '../../shared/spec/program-spec.ts';
import {
  endedRuns,
  plannedRuns,
  type SweepDetail,
  type SweepRun,
  type SweepSummary,
} from '../../shared/sweep/sweep-status.ts';
import { formatDuration } from '../../shared/words/units.ts';
import { loss } from './quantities.ts';
import type { Output } from './run-printer.ts';

const CLEAR_LINE = '\r\u001b[2K';
const LIVE_MS = 200;

export class SweepProgress {
  readonly #output: Output;
  readonly #isJson: boolean;
  /** Runs whose ends are printed, or were there before. */
  readonly #printed = new Set<string>();
  #isLive = false;
  #lastLive = -Infinity;

  constructor(output: Output, isJson: boolean) {
    this.#output = output;
    this.#isJson = isJson;
  }

  begin(sweep: SweepDetail): void {
    for (const run of sweep.runs) if (hasEnded(run)) this.#printed.add(keyOf(run));
    const { counts, id, name, points } = sweep;
    const planned = plannedRuns(counts);
    const before = endedRuns(counts);
    if (this.#isJson) return this.#json({ type: 'sweep', ...summaryOf(sweep) });
    this.#line(
      `sweep ${id}: ${name} (${counted(points.length, 'point')}, ${counted(planned, 'run')}` +
        `${before === 0 ? '' : `, ${before} of them ended before`})`,
    );
  }

  /** Prints the runs that have ended since the last call. */
  update(
    sweep: SweepDetail,
    summaryOfRun: (run: string) => RunSummary | undefined,
  ): void {
    const planned = plannedRuns(sweep.counts);
    for (const run of sweep.runs) {
      if (!hasEnded(run) || this.#printed.has(keyOf(run))) continue;
      this.#printed.add(keyOf(run));
      const label = labelOf(sweep, run);
      const summary = run.run === undefined ? undefined : summaryOfRun(run.run);
      if (this.#isJson) {
        const { loss: last, metric } = summary ?? {};
        const point = sweep.points.find(({ number }) => number === run.point);
        const ids = { type: 'run', sweep: sweep.id, label: point?.label };
        this.#json({ ...ids, ...run, loss: last, metric });
      } else {
        const count = String(this.#printed.size).padStart(String(planned).length);
        this.#line(`${count}/${planned}  ${label}: ${outcome(run, summary)}`);
      }
    }
  }

  /** Shows the progress of runs, where the line can be written anew. */
  live(sweep: SweepDetail, running: readonly RunSummary[]): void {
    const { columns } = this.#output;
    const now = performance.now();
    if (this.#isJson || columns === undefined || now - this.#lastLive < LIVE_MS) return;
    this.#lastLive = now;
    const texts = running.map(({ id, iterations, iterationsPlanned, loss: last }) => {
      const run = sweep.runs.find((one) => one.run === id);
      const parts = [progressText(iterations, iterationsPlanned)];
      if (last !== undefined) parts.push(`loss ${loss(last)}`);
      return `${run === undefined ? id : labelOf(sweep, run)}: ${parts.join(', ')}`;
    });
    const text = `${endedRuns(sweep.counts)}/${plannedRuns(sweep.counts)}  ${texts.join('; ')}`;
    this.#output.write(CLEAR_LINE + text.slice(0, columns - 1));
    this.#isLive = true;
  }

  makeWay(): void {
    if (this.#isLive) this.#output.write(CLEAR_LINE);
    this.#isLive = false;
  }

  end(sweep: SweepDetail): void {
    if (this.#isJson) return this.#json({ type: 'end', ...summaryOf(sweep) });
    this.#line(`sweep ${sweep.id} ${sweep.state}: ${countsText(sweep)}`);
    if (sweep.error !== undefined) this.#line(formatError(sweep.error));
  }

  #json(line: object): void {
    this.#output.write(`${JSON.stringify(line)}\n`);
  }

  #line(text: string): void {
    this.makeWay();
    this.#output.write(`${text}\n`);
  }
}

/** `12 completed, 1 failed, 5 queued` */
export function countsText({ counts }: Pick<SweepSummary, 'counts'>): string {
  const parts = Object.entries(counts).flatMap(([state, count]) =>
    count === 0 ? [] : [`${count} ${state}`],
  );
  return parts.length === 0 ? 'no runs' : parts.join(', ');
}

/** `topk, ratio 0.01, seed 2` */
function labelOf(
  { points }: Pick<SweepDetail, 'points'>,
  { point, seed }: Pick<SweepRun, 'point' | 'seed'>,
): string {
  const label = points.find(({ number }) => number === point)?.label ?? '';
  return [label, `seed ${seed}`].filter((part) => part !== '').join(', ');
}

const summaryOf = ({ points, ...sweep }: SweepDetail): SweepSummary => {
  const { atOnce, counts, createdAt, error, id, name, state } = sweep;
  return { id, name, state, createdAt, atOnce, points: points.length, counts, error };
};

const hasEnded = ({ state }: SweepRun): boolean =>
  state === 'completed' || state === 'failed' || state === 'stopped';

/** A run that is tried again ends again. */
const keyOf = ({ number, run }: SweepRun): string => `${number} ${run ?? ''}`;

function outcome(
  { endedAt, error, startedAt, state }: SweepRun,
  summary: RunSummary | undefined,
): string {
  if (error !== undefined) return `${state}, ${formatError(error)}`;
  const parts: string[] = [state];
  if (summary?.loss !== undefined) parts.push(`loss ${loss(summary.loss)}`);
  if (summary?.metric !== undefined) {
    parts.push(describeMetric(summary.metric, summary.metricKind));
  }
  const time =
    startedAt === undefined || endedAt === undefined
      ? ''
      : `  (${formatDuration(endedAt - startedAt)})`;
  return parts.join(', ') + time;
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;
