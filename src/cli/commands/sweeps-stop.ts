/** `gradwire sweeps stop`: launch nothing more of a sweep, and stop its runs in progress. */
import type { Command } from 'commander';
import { stopSweep } from '../../main/sweeps/stop-sweep.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveSweep } from '../session/sweep-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { countsText } from '../text/sweep-progress.ts';

interface StopFlags extends ConnectFlags {
  readonly finishRuns: boolean;
  readonly json: boolean;
}

export function addSweepsStopCommand(sweeps: Command): void {
  const command = sweeps
    .command('stop')
    .description(
      'stop a sweep and its runs in progress; resuming it runs those again and goes on',
    )
    .argument('<sweep>', 'its name, its id or the start of it, or last')
    .option('--finish-runs', 'let runs in progress come to their end', false)
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: StopFlags) => {
      await withWorkspace(async ({ coordinator, store }) => {
        const id = resolveSweep(store, name);
        const finishesRuns = flags.finishRuns;
        await stopSweep(id, { store, coordinator, finishesRuns, isDriver: false });
        const summary = store.sweeps.summary(id);
        const text = `sweep ${id}: ${summary.state}, ${countsText(summary)}\n`;
        answer(flags.json, summary, text);
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}
