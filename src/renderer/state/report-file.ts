/** Reports as files, made in the page; loaded when someone asks for one. */
import { comparisonReport } from '../../export/report/comparison-report.ts';
import { reportHtml, type Report } from '../../export/report/document.ts';
import { madeBy } from '../../export/report/made-by.ts';
import {
  readReportedRun,
  type ReportedRuns,
} from '../../export/report/reported-run.ts';
import { runReport } from '../../export/report/run-report.ts';
import type { Comparison } from '../../shared/comparison/comparison.ts';
import type { AppInfo } from '../../shared/rpc/rpc.ts';

/** The report of a run. */
export async function runReportFile(
  runs: ReportedRuns,
  run: string,
  info: AppInfo | undefined,
): Promise<Blob> {
  const reported = await readReportedRun(runs, run, info?.cores);
  return fileOf(runReport(reported, madeNow(info)));
}

/** The report of a comparison. */
export const comparisonReportFile = (
  comparison: Comparison,
  info: AppInfo | undefined,
): Blob => fileOf(comparisonReport(comparison, madeNow(info)));

const madeNow = (info: AppInfo | undefined): string =>
  madeBy(info?.version ?? '', Date.now());

const fileOf = (report: Report): Blob =>
  new Blob([reportHtml(report)], { type: 'text/html' });
