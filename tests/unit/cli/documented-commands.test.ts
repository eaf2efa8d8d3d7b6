/**
 * Commands in the documents: each is one that exists, with options that exist and values that
 * they take. Nothing is run: the actions of the real definitions are left out.
 */
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { makeProgram } from '../../../src/cli/program.ts';
import { documents, linesIn } from '../../harness/documented-commands.ts';

/** Words as a shell has them, up to a pipe, a redirection, another command or a comment. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  for (const [token] of line.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)) {
    if (/^(\||>|<|&|;|#)/.test(token)) break;
    words.push(token.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3').replace(/;$/, ''));
  }
  return words;
}

/** The words after the command's name in the lines of a document that start it. */
function commandsIn(document: string): readonly string[] {
  return linesIn(document)
    .map(
      (line) => /(?:^|\s|\()(?:npm run -s gradwire -- |gradwire )(.*)$/.exec(line)?.[1],
    )
    .filter((command) => command !== undefined && !command.startsWith('#'))
    .map((command) => command!.replace(/\)".*$/, ''));
}

/** The definitions alone: no action, and errors are thrown. */
function withoutActions(command: Command): Command {
  command.exitOverride();
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  if (command.commands.length === 0 || command.registeredArguments.length > 0) {
    command.action(() => undefined);
  }
  command.commands.forEach(withoutActions);
  return command;
}

const found = documents.flatMap((document) =>
  commandsIn(document).map((command) => ({ document, command })),
);

it('are found', () => {
  expect(found.length).toBeGreaterThan(50);
  expect(wordsOf(`run mine.yaml --set 'a=b c' | head # all`)).toEqual([
    'run',
    'mine.yaml',
    '--set',
    'a=b c',
  ]);
});

it('are all commands of this version', async () => {
  const wrong: string[] = [];
  for (const { command, document } of found) {
    const words = wordsOf(command);
    const program = withoutActions(await makeProgram(words[0]));
    try {
      await program.parseAsync([...words], { from: 'user' });
    } catch (error) {
      wrong.push(`${document}: gradwire ${command}: ${(error as Error).message}`);
    }
  }
  expect(wrong).toEqual([]);
});
