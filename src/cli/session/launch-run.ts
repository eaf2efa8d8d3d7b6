/** Launches a run and follows it to its end, as a command. */
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import { SILENT } from '../text/run-printer.ts';
import { connectOptions, type ConnectFlags } from './connect-options.ts';
import { followRun } from './follow-run.ts';
import { withWorkspace, type Workspace } from './workspace.ts';

export interface LaunchFlags extends ConnectFlags {
  readonly json: boolean;
  readonly detach: boolean;
}

/**
 * Sets the process's exit code.
 * @param place of the spec, for errors about it
 * @throws GradwireError why it cannot be launched
 */
export async function launchRun(
  spec: ExperimentSpec,
  switches: readonly SwitchRequest[],
  place: string,
  options: LaunchFlags,
): Promise<void> {
  const launch = async (workspace: Workspace): Promise<number> => {
    const { coordinator } = workspace;
    const { id } = await coordinator.create(spec, switches, place);
    const { json, detach } = options;
    const printer = detach ? () => SILENT : undefined;
    return followRun(
      workspace,
      id,
      { json, detach, mode: 'run', printer },
      async () => {
        await coordinator.begin(id);
        const line = json ? JSON.stringify({ run: id }) : id;
        if (detach) process.stdout.write(`${line}\n`);
      },
    );
  };
  process.exitCode = await withWorkspace(
    (workspace) => workspace.deployments.exitCodeOf(() => launch(workspace)),
    connectOptions(options),
  );
}
