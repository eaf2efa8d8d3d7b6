/** `gradwire run SPEC|PRESET`: launch an experiment and follow it to its end. */
import type { Command } from 'commander';
import { parseExperimentSpec } from '../../shared/experiment-spec.ts';
import { withOwnFiles } from '../../main/spec/own-files.ts';
import { applySettings, parseSwitch } from '../../main/spec/settings.ts';
import { loadSpecSource } from '../../main/spec/spec-source.ts';
import { addConnectOptions } from '../session/connect-options.ts';
import { launchRun, type LaunchFlags } from '../session/launch-run.ts';
import { RepeatableOption } from '../text/option-repetition.ts';

interface RunOptions extends LaunchFlags {
  readonly set: readonly string[];
  readonly switch: readonly string[];
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
    .addOption(
      new RepeatableOption(
        '--set <key=value>',
        'change the spec, for example world.ranks=2; repeatable',
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
    )
    .action(run);
  addConnectOptions(command);
}

async function run(name: string, options: RunOptions): Promise<void> {
  const switches = options.switch.map(parseSwitch);
  const { raw, place } = await loadSpecSource(name);
  const parsed = parseExperimentSpec(applySettings(raw, options.set), place);
  const spec = await withOwnFiles(parsed, process.cwd());
  await launchRun(spec, switches, place, options);
}
