/** `gradwire run SPEC|PRESET`: launch an experiment and follow it to its end. */
import type { Command } from 'commander';
import { applySettings, parseSwitch } from '../../main/spec/settings.ts';
import { loadSpecSource, withOwnFiles } from '../../main/spec/spec-source.ts';
import {
  parseExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followRun } from '../session/follow-run.ts';
import { patiently } from '../session/reading-notice.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { SILENT } from '../text/run-printer.ts';

export interface LaunchFlags extends ConnectFlags {
  readonly set: readonly string[];
  readonly switch: readonly string[];
  readonly json: boolean;
  readonly detach: boolean;
}

/** @param setting an example for `--set` */
export function addLaunchOptions(command: Command, setting: string): void {
  command
    .addOption(
      new RepeatableOption(
        '--set <key=value>',
        `change the spec, for example ${setting}; repeatable`,
      ).default([], ''),
    )
    .addOption(
      new RepeatableOption(
        '--switch <iteration:key=value,…>',
        'change the exchange during the run, for example 50:method=topk,ratio=0.01; repeatable',
      ).default([], ''),
    )
    .option('--json', 'print every record as one line of JSON', false)
    .option(
      '--detach',
      'print the run’s id and let the run continue in the background',
      false,
    );
  addConnectOptions(command);
}

/**
 * Launches a run and follows it to its end, as a command. Sets the process's exit code.
 * @throws GradwireError why it cannot be launched
 */
export async function launchRun(
  spec: ParsedSpec,
  switches: readonly SwitchRequest[],
  options: LaunchFlags,
): Promise<void> {
  const launch = async (workspace: Workspace): Promise<number> => {
    const { coordinator } = workspace;
    const { id } = await patiently(spec, 'the supervisor reads and checks', () =>
      coordinator.launches.create(spec, switches),
    );
    const { json, detach } = options;
    const printer = detach ? () => SILENT : undefined;
    return followRun(
      workspace,
      id,
      { json, detach, mode: 'run', printer },
      async () => {
        await coordinator.launches.begin(id);
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

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('launch an experiment and follow it')
    .description(
      'Launch an experiment and follow it to its end. Ctrl-C stops the run; a second ' +
        'Ctrl-C does not wait for its end.',
    )
    .argument('<spec>', 'a YAML or JSON file, - for stdin, or the name of a preset')
    .action(run);
  addLaunchOptions(command, 'world.ranks=2');
}

async function run(name: string, options: LaunchFlags): Promise<void> {
  const switches = options.switch.map(parseSwitch);
  const { raw, place } = await loadSpecSource(name);
  const parsed = parseExperimentSpec(applySettings(raw, options.set), place);
  const spec = await withOwnFiles(parsed, process.cwd());
  await launchRun(spec, switches, options);
}
