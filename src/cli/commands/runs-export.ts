/** `gradwire runs export`: everything stored about a run, or a table of it, as a file. */
import { Option, type Command } from 'commander';
import { runFileParts } from '../../export/run-file.ts';
import { appVersion } from '../../main/home/installation.ts';
import { inputError } from '../../shared/errors/errors.ts';
import {
  EXPORT_FORMAT_IDS,
  TABLE_FORMAT_IDS,
  type ExportFormat,
} from '../../shared/records/export-format.ts';
import {
  EXPORT_TABLE_IDS,
  type ExportTableId,
} from '../../shared/records/export-tables.ts';
import { exportFile } from '../files/export-file.ts';
import { writeParts } from '../files/write-parts.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { storedRuns } from '../session/stored-runs.ts';
import { withWorkspace } from '../session/workspace.ts';
import { exportProgress } from '../text/export-progress.ts';

interface ExportOptions {
  readonly format: ExportFormat;
  readonly table?: ExportTableId;
  readonly out?: string;
  readonly json: boolean;
}

export function addRunsExportCommand(runs: Command): void {
  runs
    .command('export')
    .description(
      'write a run as JSON or JSON Lines (everything), a table of it as CSV or Parquet, or its curves for TensorBoard',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .addOption(
      new Option('--format <format>', 'output format')
        .choices(EXPORT_FORMAT_IDS)
        .default('json'),
    )
    .addOption(
      new Option(
        '--table <table>',
        'table of csv and parquet; default: iterations, a row per iteration and rank',
      ).choices(EXPORT_TABLE_IDS),
    )
    .option(
      '--out <file>',
      'output file, for tensorboard the directory; default: stdout',
    )
    .option('--json', 'one line of JSON about the file that was written', false)
    .action(async (name: string, options: ExportOptions) => {
      requireFitting(options);
      const { format, json, table } = options;
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const run = resolveRun(store, name);
        const output = await exportFile(run, format, options.out);
        using progress = exportProgress(output);
        const parts = runFileParts(storedRuns(store), run, {
          format,
          table,
          createdBy: `gradwire ${appVersion()}`,
        });
        await writeParts(parts, output, progress.show);
        if (!json) return;
        process.stdout.write(`${JSON.stringify({ run, format, table, output })}\n`);
      });
    });
}

/** Formats that are not text. */
const BINARY: readonly ExportFormat[] = ['parquet', 'tensorboard'];

/** @throws GradwireError `EXPORT_TABLE_MISSING`, `EXPORT_NEEDS_FILE`, `USAGE` */
function requireFitting({ format, json, out, table }: ExportOptions): void {
  if (json && out === undefined) {
    throw inputError('USAGE', 'stdout cannot have the export and a line about it', {
      place: 'runs export --json',
      next: 'Give a file with --out, or leave --json out: the export is JSON by itself.',
    });
  }
  if (
    table !== undefined &&
    !(TABLE_FORMAT_IDS as readonly string[]).includes(format)
  ) {
    throw inputError('EXPORT_TABLE_MISSING', `${format} has no table ${table}`, {
      place: '--table',
      next: `Leave out --table, or choose one of: --format ${TABLE_FORMAT_IDS.join(', --format ')}.`,
    });
  }
  if (BINARY.includes(format) && out === undefined && process.stdout.isTTY) {
    throw inputError('EXPORT_NEEDS_FILE', `${format} is not text for a terminal`, {
      place: '--out',
      next: 'Give a file with --out FILE.',
    });
  }
}
