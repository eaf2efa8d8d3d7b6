/**
 * The `gradwire` command: reads the command line, hands it to one command, and turns
 * whatever comes of it into an exit code: 0 fine, 2 wrong input, 1 anything else.
 */
import { Command } from 'commander';
import { appVersion } from '../main/home/installation.ts';
import { addAllreduceCommand } from './commands/allreduce.ts';
import { addBenchCommand } from './commands/bench.ts';
import { addCompressCommand } from './commands/compress.ts';
import { addDataCommand } from './commands/data.ts';
import { addDecompressCommand } from './commands/decompress.ts';
import { addNodesCommand } from './commands/nodes.ts';
import { addPlanCommand } from './commands/plan.ts';
import { addPresetsCommand } from './commands/presets.ts';
import { addReproduceCommand } from './commands/reproduce.ts';
import { addRunCommand } from './commands/run.ts';
import { addRunsCommand } from './commands/runs.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSpecCommand } from './commands/spec.ts';
import { addStartCommand } from './commands/start.ts';
import { optionDescription } from './text/option-help.ts';
import { refuseSecondValues } from './text/option-repetition.ts';
import { outputFailed } from './text/output-failed.ts';
import { reportError } from './text/report-error.ts';

function makeProgram(): Command {
  const program = new Command('gradwire')
    .description(
      'See where a distributed training step spends its time, and switch its compression during the run.',
    )
    .version(appVersion())
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ optionDescription })
    // Commander's own messages are several lines; they are reported as one.
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined });
  addRunCommand(program);
  addRunsCommand(program);
  addNodesCommand(program);
  addDataCommand(program);
  addPresetsCommand(program);
  addSpecCommand(program);
  addCompressCommand(program);
  addDecompressCommand(program);
  addPlanCommand(program);
  addAllreduceCommand(program);
  addBenchCommand(program);
  addReproduceCommand(program);
  addServeCommand(program);
  addStartCommand(program);
  refuseSecondValues(program);
  return program;
}

/** Runs the command line and sets the process's exit code. */
export async function runCommandLine(): Promise<void> {
  // A reader that closes the pipe is not our error; following a run adds its own listener.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever follows a run stops it first.
    const isHandled = process.stdout.listenerCount('error') > 1;
    if (error.code === 'EPIPE' || isHandled) return;
    process.exit(reportError(outputFailed(error)));
  });
  // What nothing else caught. Runs continue; the app has its own handlers.
  const fail = (error: unknown): void => {
    process.exit(reportError(error));
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    const program = makeProgram();
    if (process.argv.length <= 2) process.stdout.write(program.helpInformation());
    else await program.parseAsync();
  } catch (error) {
    process.exitCode = reportError(error);
  }
}
