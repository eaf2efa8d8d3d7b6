/**
 * The `gradwire` command: reads the command line, hands it to one command, and turns
 * whatever comes of it into an exit code: 0 fine, 2 wrong input, 1 anything else.
 */
import { Command } from 'commander';
import { appVersion } from '../main/home/installation.ts';
import { commands } from './commands/registry.ts';
import { optionDescription } from './text/option-help.ts';
import { refuseSecondValues } from './text/option-repetition.ts';
import { outputFailed } from './text/output-failed.ts';
import { reportError } from './text/report-error.ts';

/** Arguments for which no command is needed. */
const VERSION = ['-V', '--version'];

/** `gradwire help runs list` is `gradwire runs list --help`. */
const withHelp = (words: readonly string[]): readonly string[] =>
  words[0] === 'help' ? [...words.slice(1), '--help'] : words;

/**
 * The program with the command that the first argument names, or with all where it names none: for
 * help, and to suggest one. To load all takes longer than most of them run.
 */
export async function makeProgram(name: string | undefined): Promise<Command> {
  const program = new Command('gradwire')
    .description(
      'See where a distributed training step spends its time, and switch its compression during the run.',
    )
    .version(appVersion())
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ optionDescription, minWidthToWrap: 24 })
    // Commander's own messages are several lines; they are reported as one.
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined });
  const named = commands.get(name ?? '');
  const others = VERSION.includes(name ?? '') ? [] : commands.values();
  for (const load of named === undefined ? others : [named]) {
    const add = await load();
    add(program);
  }
  refuseSecondValues(program);
  return program;
}

/** The command that the words name, as far as they name one: `gradwire runs list`. */
function commandOf(program: Command, words: readonly string[]): string {
  let command = program;
  const names = [program.name()];
  for (const word of words) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) break;
    command = inner;
    names.push(word);
  }
  return names.join(' ');
}

const ignore = (): undefined => undefined;

/** Runs the command line and sets the process's exit code. */
export async function runCommandLine(): Promise<void> {
  // A reader that closes the pipe is not our error; following a run adds its own listener.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever follows a run stops it first.
    const isHandled = process.stdout.listenerCount('error') > 1;
    if (error.code === 'EPIPE' || isHandled) return;
    process.exit(reportError(outputFailed(error)));
  });
  // Whoever reads what a command says may be gone, as `tee` is after Ctrl-C: the command still has to
  // stop its run.
  process.stderr.off('error', ignore).on('error', ignore);
  // What nothing else caught. Runs continue; the app has its own handlers.
  const fail = (error: unknown): void => {
    process.exit(reportError(error));
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let help = (): string => 'gradwire --help';
  try {
    const words = withHelp(process.argv.slice(2));
    const program = await makeProgram(words[0]);
    help = (): string => `${commandOf(program, words)} --help`;
    if (words.length === 0) process.stdout.write(program.helpInformation());
    else await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = reportError(error, help());
  }
}
