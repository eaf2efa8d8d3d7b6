/** `gradwire completion`: a script for a shell that completes commands and options. */
import { Argument, type Command } from 'commander';
import {
  completionScript,
  SHELLS,
  type CompletedCommand,
  type Shell,
} from '../text/completion-scripts.ts';
import { commands } from './registry.ts';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .option('--json', 'one line of JSON with the script', false)
    .action(async (shell: Shell, { json }: { readonly json: boolean }) => {
      // Only this command was loaded: the script has them all.
      for (const [name, load] of commands) {
        if (name !== 'completion') (await load())(program);
      }
      const script = completionScript(shell, completed(program, []));
      process.stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script);
    });
}

/** The command with all below it. */
function completed(
  command: Command,
  words: readonly string[],
): readonly CompletedCommand[] {
  const below = command.commands;
  return [
    {
      words,
      summary: command.summary() || command.description(),
      commands: below.map((inner) => inner.name()),
      options: [
        ...command.options
          .filter(({ hidden, long }) => !hidden && long !== undefined)
          .map(({ description, long }) => ({ flag: long!, summary: description })),
        { flag: '--help', summary: 'display help for command' },
      ],
    },
    ...below.flatMap((inner) => completed(inner, [...words, inner.name()])),
  ];
}
