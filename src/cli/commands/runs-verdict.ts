/** `gradwire runs verdict`: what bounds a run's step, and the numbers that it rests on. */
import os from 'node:os';
import type { Command } from 'commander';
import { readVerdict } from '../../export/report/read-verdict.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { storedRuns } from '../session/stored-runs.ts';
import { withHistory } from '../session/workspace.ts';
import { verdictJson, verdictText } from '../text/verdict-text.ts';

export function addRunsVerdictCommand(runs: Command): void {
  runs
    .command('verdict')
    .description(
      'say what bounds the step, what remedies would gain, and the numbers that this rests on',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option('--json', 'print one line of JSON', false)
    .action(async (name: string, options: { readonly json: boolean }) => {
      await withHistory(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        const verdict = await readVerdict(
          storedRuns(store),
          store.reads.shown(id),
          os.availableParallelism(),
        );
        const text =
          verdict === undefined
            ? 'too few iterations for a verdict'
            : verdictText(verdict);
        process.stdout.write(`${options.json ? verdictJson(id, verdict) : text}\n`);
      });
    });
}
