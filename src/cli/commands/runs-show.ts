/** `gradwire runs show`: one run, its spec, and what happened in it. */
import { machineName } from '../../shared/machines/machine-names.ts';
import os from 'node:os';
import type { Command } from 'commander';
import { readVerdict } from '../../export/report/read-verdict.ts';
import { specToYaml } from '../../main/spec/spec-yaml.ts';
import { describeEmulated } from '../../shared/machines/emulated-network.ts';
import { formatError } from '../../shared/errors/errors.ts';
import { describePlan } from '../../shared/plan/exchange-plan.ts';
import { describeMetric } from '../../shared/records/metric.ts';
import { settingsInUse } from '../../shared/spec/program-settings.ts';
import { isOpenEnded, plannedText } from '../../shared/spec/program-spec.ts';
import {
  describeInterruption,
  describeRestart,
  openInterruptions,
  pastRestarts,
} from '../../shared/records/interruption.ts';
import {
  describeAllocated,
  describeQueued,
  queueAdvice,
} from '../../shared/records/queue-text.ts';
import { rankProcesses } from '../../shared/records/rank-places.ts';
import { describeGpus, describePlaces } from '../../shared/records/rank-places.ts';
import { describeThinned } from '../../shared/records/thinned.ts';
import { alertsText } from '../../shared/records/run-alert.ts';
import { alertLine } from '../../shared/records/alert.ts';
import type { RunNote } from '../../shared/run-query/run-note.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { storedRuns } from '../session/stored-runs.ts';
import { withHistory } from '../session/workspace.ts';
import { missingRecords } from '../text/missing-records.ts';
import { noteLine } from '../text/note-line.ts';
import { PhaseBreakdown } from '../text/phase-breakdown.ts';
import { date, loss, milliseconds } from '../text/quantities.ts';

export function addRunsShowCommand(runs: Command): void {
  runs
    .command('show')
    .description('show one run: state, spec, switches, and where its time went')
    .argument('<run>', 'its id or the start of it, or last')
    .option('--json', 'print one line of JSON', false)
    .action(async (name: string, options: { readonly json: boolean }) => {
      await withHistory(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        const detail = store.reads.detail(id);
        if (options.json) {
          const notes = store.annotations.notes(id);
          process.stdout.write(`${JSON.stringify({ ...detail, notes })}\n`);
          return;
        }
        const breakdown = new PhaseBreakdown();
        for (const record of store.reads.allIterations(id)) breakdown.add(record);
        const missing = missingRecords(store.journals.missing(), id);
        const notes = store.annotations.notes(id);
        const text = describe(detail, breakdown.table(), missing, notes);
        const verdict = await readVerdict(
          storedRuns(store),
          detail,
          os.availableParallelism(),
        );
        const said = verdict?.statements.map((statement) => statement.text).join('; ');
        const more = `verdict: ${said} (gradwire runs verdict ${id})`;
        process.stdout.write(`${text}\n${said === undefined ? '' : `\n${more}\n`}`);
      });
    });
}

const doneText = ({ iterations, iterationsPlanned }: RunDetail): string =>
  isOpenEnded(iterationsPlanned)
    ? plannedText(iterations)
    : `${iterations} of ${plannedText(iterationsPlanned)}`;

function describe(
  run: RunDetail,
  table: string | undefined,
  missing: string | undefined,
  notes: readonly RunNote[],
): string {
  const lines = [
    `run ${run.id}: ${run.name}`,
    `${run.queue === undefined ? run.state : describeQueued(run.queue)}, ${doneText(run)}, ` +
      `created ${date(run.createdAt)}` +
      (run.endedAt === undefined
        ? ''
        : `, took ${milliseconds(run.endedAt - run.createdAt)}`),
  ];
  if (run.deleted)
    lines.push(`deleted; gradwire runs delete ${run.id} --undo restores it`);
  if (run.title !== undefined) lines.push(`name in its spec ${run.spec.name}`);
  if (run.tags !== undefined) lines.push(`tags ${run.tags.join(' ')}`);
  lines.push(...notes.map(noteLine));
  if (run.alerts !== undefined) lines.push(`alerts ${alertsText(run.alerts)}`);
  const advice = run.queue && queueAdvice(run.queue);
  if (advice !== undefined) lines.push(advice);
  const started = run.events.find((event) => event.type === 'started');
  const processes = rankProcesses(run.events);
  for (const line of [describePlaces(processes, run.nodes), describeGpus(processes)]) {
    if (line !== undefined) lines.push(line);
  }
  const emulated = started?.emulated;
  if (emulated !== undefined) lines.push(`network ${describeEmulated(emulated)}`);
  if (run.loss !== undefined) lines.push(`loss ${loss(run.loss)}`);
  if (run.metric !== undefined) lines.push(describeMetric(run.metric, run.metricKind));
  if (run.error !== undefined) lines.push(formatError(run.error));
  for (const interruption of openInterruptions(run.events)) {
    lines.push(`interrupted at ${describeInterruption(interruption, run.nodes)}`);
  }
  const restarts = pastRestarts(run.events);
  lines.push(...restarts.map((restart) => describeRestart(restart, run.nodes)));
  if (missing !== undefined) lines.push(missing);
  const nodes = run.events.findLast((event) => event.type === 'allocated');
  if (nodes !== undefined && run.queue === undefined) {
    lines.push(describeAllocated(nodes));
  }
  for (const event of run.events) {
    if (event.type === 'switch') {
      lines.push(
        `iteration ${event.fence}: ${describePlan(event.from)} → ${describePlan(event.to)}`,
      );
    }
    if (event.type === 'thinned')
      lines.push(
        `warning: ${describeThinned(event, machineName(event.node, run.nodes))}`,
      );
    if (event.type === 'alert') lines.push(alertLine(event));
    if (event.type === 'notice') lines.push(`${event.level}: ${event.message}`);
  }
  lines.push('', specToYaml(settingsInUse(run.spec)).trimEnd());
  if (table !== undefined) lines.push('', table);
  return lines.join('\n');
}
