/** `gradwire runs report`: a run as one file of HTML that opens without a network. */
import os from 'node:os';
import type { Command } from 'commander';
import { reportHtml } from '../../export/report/document.ts';
import { readReportedRun } from '../../export/report/reported-run.ts';
import { runReport } from '../../export/report/run-report.ts';
import { madeBy } from '../../export/report/made-by.ts';
import { appVersion } from '../../main/home/installation.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { writeText } from '../files/write-parts.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { storedRuns } from '../session/stored-runs.ts';
import { withHistory } from '../session/workspace.ts';

interface ReportOptions {
  readonly out?: string;
  readonly json: boolean;
}

export function addRunsReportCommand(runs: Command): void {
  runs
    .command('report')
    .description(
      'write a report of a run: one HTML file that opens offline, with verdict, switches, charts and configuration',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option('--out <file>', 'output file; default: stdout')
    .option('--json', 'one line of JSON about the file that was written', false)
    .action(async (name: string, { json, out }: ReportOptions) => {
      if (json && out === undefined) throw reportOnStdout();
      await withHistory(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        const cores = os.availableParallelism();
        const run = await readReportedRun(storedRuns(store), id, cores);
        const made = madeBy(appVersion(), Date.now());
        await writeText(reportHtml(runReport(run, made)), out);
        if (json) process.stdout.write(`${JSON.stringify({ run: id, output: out })}\n`);
      });
    });
}

const reportOnStdout = (): Error =>
  inputError('USAGE', 'stdout cannot have the report and a line about it', {
    place: 'runs report --json',
    next: 'Give a file with --out, or leave --json out.',
  });
