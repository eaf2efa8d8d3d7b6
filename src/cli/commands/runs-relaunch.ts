/** `gradwire runs relaunch`: the same spec and the same switches, once more. */
import type { Command } from 'commander';
import { relaunched } from '../../main/runs/relaunched.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followRun } from '../session/follow-run.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';

export function addRunsRelaunchCommand(runs: Command): void {
  const command = runs
    .command('relaunch')
    .description('launch a run again with the same switches, and follow it')
    .argument('<run>', 'its id or the start of it, or last')
    .option('--json', 'print every record as one line of JSON', false)
    .action(async (name: string, flags: ConnectFlags & { readonly json: boolean }) => {
      const relaunch = async (workspace: Workspace): Promise<number> => {
        const { store, coordinator } = workspace;
        const model = resolveRun(store, name);
        const { spec, switches } = relaunched(
          store,
          model,
          await coordinator.machines.catalogue(),
        );
        const { id } = await coordinator.launches.create(
          parseExperimentSpec(spec, `run ${model}`),
          switches,
        );
        return followRun(workspace, id, { json: flags.json, mode: 'run' }, async () => {
          await coordinator.launches.begin(id);
        });
      };
      process.exitCode = await withWorkspace(
        (workspace) => workspace.deployments.exitCodeOf(() => relaunch(workspace)),
        connectOptions(flags),
      );
    });
  addConnectOptions(command);
}
