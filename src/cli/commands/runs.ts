/** `gradwire runs …`: commands on existing runs. */
import type { Command } from 'commander';
import { addRunsAttachCommand } from './runs-attach.ts';
import { addRunsBucketsCommand } from './runs-buckets.ts';
import { addRunsDeleteCommand } from './runs-delete.ts';
import { addRunsExportCommand } from './runs-export.ts';
import { addRunsReportCommand } from './runs-report.ts';
import { addRunsListCommand } from './runs-list.ts';
import { addRunsLogCommand } from './runs-log.ts';
import { addRunsNoteCommand } from './runs-note.ts';
import { addRunsOrderCommand } from './runs-order.ts';
import { addRunsPurgeCommand } from './runs-purge.ts';
import { addRunsRelaunchCommand } from './runs-relaunch.ts';
import { addRunsRenameCommand } from './runs-rename.ts';
import { addRunsShowCommand } from './runs-show.ts';
import { addRunsStopCommand } from './runs-stop.ts';
import { addRunsSwitchCommand } from './runs-switch.ts';
import { addRunsTagCommand } from './runs-tag.ts';
import { addRunsTraceCommand } from './runs-trace.ts';
import { addRunsWhatIfCommand } from './runs-what-if.ts';
import { addRunsUtilisationCommand } from './runs-utilisation.ts';
import { addRunsVerdictCommand } from './runs-verdict.ts';

export function addRunsCommand(program: Command): void {
  const runs = program.command('runs').description('list, inspect and control runs');
  addRunsListCommand(runs);
  addRunsShowCommand(runs);
  addRunsVerdictCommand(runs);
  addRunsExportCommand(runs);
  addRunsReportCommand(runs);
  addRunsAttachCommand(runs);
  addRunsLogCommand(runs);
  addRunsStopCommand(runs);
  addRunsSwitchCommand(runs);
  addRunsOrderCommand(runs);
  addRunsBucketsCommand(runs);
  addRunsUtilisationCommand(runs);
  addRunsTraceCommand(runs);
  addRunsWhatIfCommand(runs);
  addRunsRelaunchCommand(runs);
  addRunsTagCommand(runs);
  addRunsNoteCommand(runs);
  addRunsRenameCommand(runs);
  addRunsDeleteCommand(runs);
  addRunsPurgeCommand(runs);
}
