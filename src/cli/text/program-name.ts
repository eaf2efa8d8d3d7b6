/** A program's name in lists of runs, from its command. */
import path from 'node:path';
import { PROGRAM } from '../../shared/spec/program-spec.ts';
import { isPrintable } from '../../shared/words/printable.ts';

/** Programs that run a module with `-m`. */
const RUNS_MODULES = /^(?:python|torchrun)/;

/** The script or the module; without either the program itself. */
export function programName(command: readonly string[]): string {
  const [program = 'external'] = command;
  const script =
    command.find((argument) => argument.endsWith('.py')) ??
    // The last: python -m torch.distributed.run -m pkg.train.
    command.findLast(
      (_, index) =>
        command[index - 1] === '-m' && RUNS_MODULES.test(path.basename(program)),
    ) ??
    program;
  const name = path.basename(script).slice(0, 120);
  // What is wrong with the command is told of the command.
  return name !== '' && isPrintable(name) ? name : PROGRAM;
}
