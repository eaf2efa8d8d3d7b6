/** `--json` is an option of every command, so that a program need not read text. */
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands/registry.ts';
import { makeProgram } from '../../../src/cli/program.ts';

/** Commands that do something and lack the option, by their words. */
function lacking(command: Command, words: readonly string[]): readonly string[] {
  const own = [...words, command.name()];
  const acts = command.commands.length === 0 || command.registeredArguments.length > 0;
  const lacks = acts && !command.options.some(({ long }) => long === '--json');
  return [
    ...(lacks ? [own.join(' ')] : []),
    ...command.commands.flatMap((below) => lacking(below, own)),
  ];
}

it.each([...commands.keys()])('%s', async (name) => {
  const program = await makeProgram(name);
  expect(program.commands.flatMap((command) => lacking(command, []))).toEqual([]);
});
