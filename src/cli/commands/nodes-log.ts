/** `gradwire nodes log`: the last lines of a supervisor's log. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer } from '../text/answer.ts';

const MOST_LINES = 1000;

interface LogFlags extends ConnectFlags {
  readonly lines: string;
  readonly json: boolean;
}

export function addNodesLogCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('log')
      .description('print the last lines of the log of a machine’s supervisor')
      .argument('<name>', 'its name, or this-computer'),
  )
    .option('--lines <n>', `how many, at most ${MOST_LINES}`, '100')
    .option('--json', 'one line of JSON per line', false)
    .action(async (name: string, flags: LogFlags) => {
      const count = Number(flags.lines);
      if (!Number.isInteger(count) || count < 1 || count > MOST_LINES) {
        throw inputError('LINES_INVALID', `--lines is "${flags.lines}"`, {
          next: `Give a whole number from 1 to ${MOST_LINES}.`,
        });
      }
      const { file, lines } = await withWorkspace(
        ({ inventory }) => inventory.log(name, count),
        connectOptions(flags),
      );
      if (lines === undefined)
        process.stderr.write(`${machineTitle(name)} has no log at ${file}\n`);
      else if (lines.length === 0) {
        process.stderr.write(
          `the log of ${machineTitle(name)} is empty: its supervisor has reported no trouble (${file})\n`,
        );
      }
      for (const line of lines ?? []) answer(flags.json, { line }, `${line}\n`);
    });
}
