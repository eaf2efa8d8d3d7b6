/** `gradwire runs export`: everything stored about a run, as JSON or CSV. */
import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { exportRun } from '../../main/store/run-export.ts';
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { writeAdvice } from '../../shared/errors/write-advice.ts';
import {
  EXPORT_FORMAT_IDS,
  type ExportFormat,
} from '../../shared/records/export-format.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

interface ExportOptions {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly json: boolean;
}

export function addRunsExportCommand(runs: Command): void {
  runs
    .command('export')
    .description(
      'write a run as JSON or JSON Lines (everything) or CSV (a row per iteration and rank)',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .addOption(
      new Option('--format <format>', 'output format')
        .choices(EXPORT_FORMAT_IDS)
        .default('json'),
    )
    .option('--output <file>', 'output file; default: stdout')
    .option('--json', 'one line of JSON about the file that was written', false)
    .action(async (name: string, { format, json, output }: ExportOptions) => {
      if (json && output === undefined) throw exportOnStdout();
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const run = resolveRun(store, name);
        const pieces = exportRun(store, run, format);
        const isNew = output !== undefined && !existsSync(output);
        try {
          if (output === undefined) {
            await pipeline(Readable.from(pieces), process.stdout, { end: false });
          } else await pipeline(Readable.from(pieces), createWriteStream(output));
        } catch (cause) {
          // Half an export could be taken for a whole one.
          if (isNew) rmSync(output, { force: true });
          const { code, message, syscall } = cause as NodeJS.ErrnoException;
          if (code === 'EPIPE') return; // the reader has had enough
          if (syscall === undefined) throw cause;
          throw failure('EXPORT_WRITE_FAILED', `cannot write the export: ${message}`, {
            next: writeAdvice(
              cause,
              'Free space on that disk, or give another file with --output.',
            ),
          });
        }
        if (!json) return;
        process.stdout.write(`${JSON.stringify({ run, format, output })}\n`);
      });
    });
}

function exportOnStdout(): GradwireError {
  return inputError('USAGE', 'stdout cannot have the export and a line about it', {
    place: 'runs export --json',
    next: 'Give a file with --output, or leave --json out: the export is JSON by itself.',
  });
}
