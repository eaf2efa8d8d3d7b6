/** `gradwire runs relaunch`: the same spec, as it was or changed, and the same switches. */
import type { Command } from 'commander';
import { relaunched } from '../../main/runs/relaunched.ts';
import { withOwnFiles } from '../../main/spec/spec-source.ts';
import { applySettings } from '../../main/spec/settings.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followRun } from '../session/follow-run.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { RepeatableOption } from '../text/option-repetition.ts';

interface RelaunchFlags extends ConnectFlags {
  readonly json: boolean;
  readonly set: readonly string[];
}

export function addRunsRelaunchCommand(runs: Command): void {
  const command = runs
    .command('relaunch')
    .description('launch a run again with the same switches, and follow it')
    .argument('<run>', 'its id or the start of it, or last')
    .addOption(
      new RepeatableOption(
        '--set <key=value>',
        'change its spec, for example optimizer.lr=0.1; repeatable',
      ).default([], ''),
    )
    .option('--json', 'print every record as one line of JSON', false)
    .action(async (name: string, flags: RelaunchFlags) => {
      const relaunch = async (workspace: Workspace): Promise<number> => {
        const { store, coordinator } = workspace;
        const model = resolveRun(store, name);
        const { spec, switches } = relaunched(
          store,
          model,
          await coordinator.machines.catalogue(),
        );
        const { id } = await coordinator.launches.create(
          await changed(spec, flags.set, model),
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

/** The spec with these settings; paths in them begin at the working directory. */
async function changed(
  spec: ExperimentSpec,
  settings: readonly string[],
  run: string,
): Promise<ParsedSpec> {
  const parsed = parseExperimentSpec(applySettings(spec, settings), `run ${run}`);
  return settings.length === 0 ? parsed : await withOwnFiles(parsed, process.cwd());
}
