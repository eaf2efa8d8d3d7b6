import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addBenchCommand } from '../../../src/cli/commands/bench.ts';

const parse = (...args: string[]): void => {
  const program = new Command('gradwire');
  addBenchCommand(program);
  const [bench] = program.commands;
  for (const command of [program, bench!, ...bench!.commands]) {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
  }
  program.parse(['bench', ...args], { from: 'user' });
};

test.each([
  ['history', '--iterations=0', 'whole number'],
  ['history', '--ranks=NaN', 'whole number'],
  ['history', '--seconds=-1', 'whole number'],
  ['pytorch', '--steps=1e3', 'whole number'],
  ['pytorch', '--ranks=2,x', 'whole number'],
  ['pytorch', '--pairs=0', 'whole number'],
  ['compress', '--n=', 'a list'],
  ['compress', '--methods=topk,,qsgd', 'a list'],
  ['collectives', '--sizes=', 'a list'],
])('bench %s refuses %s before anything is measured', (name, option, reason) => {
  expect(() => {
    parse(name, option);
  }).toThrow(reason);
});
