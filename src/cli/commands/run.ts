/** `gradwire run SPEC|PRESET`: launch an experiment and follow it to its end. */
import type { Command } from 'commander';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { withOwnFiles } from '../../main/spec/own-files.ts';
import { applySettings, parseSwitch } from '../../main/spec/settings.ts';
import { loadSpecSource } from '../../main/spec/spec-source.ts';
import {
  addLaunchOptions,
  launchRun,
  type LaunchFlags,
} from '../session/launch-run.ts';

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
