/** `gradwire runs switch`: change the exchange of a run in progress. */
import type { Command } from 'commander';
import { describePlan } from '../../shared/plan/exchange-plan.ts';
import { parseChange } from '../../main/spec/settings.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsSwitchCommand(runs: Command): void {
  const command = runs
    .command('switch')
    .description('change method, parameters or collective of a run in progress')
    .argument('<run>', 'its id or the start of it, or last')
    .argument('<key=value...>', 'for example method=topk ratio=0.01')
    .option('--json', 'print the planned switch as one line of JSON', false)
    .action(
      async (
        name: string,
        changes: readonly string[],
        flags: ConnectFlags & { readonly json: boolean },
      ) => {
        const request = parseChange(changes.join(','), 'runs switch');
        await withWorkspace(async ({ store, coordinator }) => {
          const id = resolveRun(store, name);
          const { switch: planned } = await coordinator.order(id, {
            type: 'switch',
            ...request,
          });
          process.stdout.write(
            flags.json
              ? `${JSON.stringify(planned)}\n`
              : `run ${id}: ${describePlan(planned.plan)} from the next fence\n`,
          );
        }, connectOptions(flags));
      },
    );
  addConnectOptions(command);
}
