/** The page of commands, from their definitions. */
import type { Argument, Command, Option } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { optionDescription } from '../../src/cli/text/option-help.ts';
import { cell, code, table } from './markdown.ts';
import type { Page } from './page.ts';

const program = await makeProgram(undefined);

const inOrder = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(inOrder),
];

const nameOf = (command: Command): string =>
  command.parent === null
    ? command.name()
    : `${nameOf(command.parent)} ${command.name()}`;

const usageOf = (command: Command): string =>
  `${nameOf(command)} ${command.usage()}`.trim();

const argumentRow = (argument: Argument): readonly string[] => [
  code(argument.name()),
  cell(argument.description),
];

const optionRow = (option: Option): readonly string[] => [
  code(option.flags),
  cell(optionDescription(option)),
];

function section(command: Command): string {
  const options = command.options.filter(({ hidden }) => !hidden);
  const blocks = [
    `## ${nameOf(command)}`,
    `${cell(sentence(command.description()))}`,
    `\`\`\`\n${usageOf(command)}\n\`\`\``,
    ...(command.registeredArguments.length === 0
      ? []
      : [table(['argument', 'meaning'], command.registeredArguments.map(argumentRow))]),
    ...(options.length === 0
      ? []
      : [table(['option', 'meaning'], options.map(optionRow))]),
  ];
  return blocks.join('\n\n');
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return first === '' || first.endsWith('.') ? first : `${first}.`;
}

const commands = program.commands.flatMap(inOrder);

export const commandPage: Page = {
  file: 'commands.md',
  title: 'Commands',
  about:
    'Every command with every option, as `--help` prints them. [Command line and spec](../command-line.md) explains how to use them.',
  body: [
    table(
      ['command', 'what it does'],
      commands.map((command) => [
        `[\`${nameOf(command)}\`](#${nameOf(command).replaceAll(' ', '-')})`,
        cell(command.summary() || command.description()),
      ]),
    ),
    ...commands.map(section),
  ],
};
