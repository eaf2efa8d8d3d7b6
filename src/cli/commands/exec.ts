/** `gradwire exec -- COMMAND…`: run a PyTorch program of one's own, without a spec. */
import type { Command } from 'commander';
import { MOST_RANKS, parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { PROGRAM } from '../../shared/spec/program-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { withOwnFiles } from '../../main/spec/spec-source.ts';
import { applySettings, parseSwitch } from '../../main/spec/settings.ts';
import { addLaunchOptions, launchRun, type LaunchFlags } from './run.ts';
import { programEnvironment } from '../session/program-environment.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { countBetween } from '../text/parse-count.ts';
import { programName } from '../text/program-name.ts';

interface ExecOptions extends LaunchFlags {
  readonly ranks: number;
  readonly nodes?: string;
  readonly method?: string;
  readonly observe?: true;
  readonly external?: true;
  readonly copy: boolean;
  readonly env: readonly string[];
}

export function addExecCommand(program: Command): void {
  const command = program
    .command('exec')
    .summary('run your own PyTorch program')
    .description(
      'Run your own PyTorch program on every rank, and follow it to its end. It joins with ' +
        'gradwire.join(), and Gradwire averages its gradients; with --observe it communicates ' +
        'by itself, and not a line of it changes.',
    )
    .argument('[command...]', 'the program and its arguments, after --')
    .option('--observe', 'only watch it: where does each step go')
    .option(
      '--external',
      'the command is a launcher that starts the ranks, such as torchrun; without a command you start them',
    )
    .option('--ranks <number>', 'processes', countBetween(1, MOST_RANKS), DEFAULT_RANKS)
    .option('--nodes <names>', 'machines, separated by commas (default: this computer)')
    .option('--method <name>', 'compression, for example topk (default: none)')
    .option(
      '--no-copy',
      'with --nodes: this directory is on the machines, under the same path',
    )
    .addOption(
      new RepeatableOption(
        '--env <name[=value]>',
        'pass an environment variable; PATH and those of Python, CUDA and thread libraries are passed to ranks on this computer; repeatable',
      ).default([], ''),
    )
    .action(exec);
  addLaunchOptions(command, 'exchange.ratio=0.01');
}

const DEFAULT_RANKS = 2;
const COMMAND_LINE = 'command line';

async function exec(command: readonly string[], options: ExecOptions): Promise<void> {
  const switches = options.switch.map(parseSwitch);
  const { copy, external, method, nodes, observe, ranks } = options;
  const started = {
    command,
    workdir: process.cwd(),
    env: programEnvironment(options.env, isHere(nodes)),
    ...(copy ? {} : { copy }),
  };
  const raw = {
    name: programName(command),
    workload: {
      model: PROGRAM,
      ...(command.length === 0 ? {} : started),
      ...(observe === undefined ? {} : { observe }),
      ...(external === undefined ? {} : { external }),
    },
    world: {
      ranks,
      ...(nodes === undefined ? {} : { nodes: nodes.split(',') }),
    },
    exchange: method === undefined ? {} : { method },
  };
  const parsed = parseExperimentSpec(applySettings(raw, options.set), COMMAND_LINE);
  const spec = await withOwnFiles(parsed, process.cwd());
  await launchRun(spec, switches, options);
}

/** Whether all ranks are on this computer. */
const isHere = (nodes: string | undefined): boolean =>
  nodes === undefined || nodes === LOCAL_NODE;
