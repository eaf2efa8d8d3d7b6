import { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  refuseSecondValues,
  RepeatableOption,
} from '../../../src/cli/text/option-repetition.ts';

const parse = (...args: string[]): unknown => {
  const program = new Command('gradwire').exitOverride();
  const inner = program
    .command('inner')
    .option('-n, --number <count>', '', (text) => Number(text))
    .option('--name [name]', '')
    .option('--default <name>', '', 'none')
    .option('--json', '')
    .option('--no-open', '')
    .addOption(new RepeatableOption('--set <key>', ''))
    .action(() => undefined);
  refuseSecondValues(program);
  program.parse(['inner', ...args], { from: 'user' });
  return inner.opts();
};

test('values of a repeatable option are collected, flags may be repeated', () => {
  expect(
    parse(
      '--set',
      'a',
      '--json',
      '--no-open',
      '--set=b',
      '--json',
      '--no-open',
      '--set=a',
    ),
  ).toEqual({ set: ['a', 'b', 'a'], json: true, open: false, default: 'none' });
  expect(parse('-n', '3', '--name', '--default=x')).toEqual({
    number: 3,
    name: true,
    default: 'x',
    open: true,
  });
});

test.each([
  [['-n', '3', '--number=4'], '--number is given twice: "3" and "4"'],
  [['--name', 'a', '--name=a'], '--name is given twice'],
  [['--name', '--name', 'a'], '--name is given twice'],
  [['--default', '', '--default', 'a'], '--default is given twice: "" and "a"'],
])('%j: a second value is refused', (args, message) => {
  expect(() => parse(...args)).toThrow(
    expect.objectContaining({ code: 'USAGE', kind: 'input', message }),
  );
});
