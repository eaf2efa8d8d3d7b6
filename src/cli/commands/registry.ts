/** All commands by name, in the order of the help. Each is loaded when it is needed. */
import type { Command } from 'commander';

/** Adds a command, with its subcommands, to the program. */
type AddCommand = (program: Command) => void;

export const commands: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['run', async () => (await import('./run.ts')).addRunCommand],
  ['exec', async () => (await import('./exec.ts')).addExecCommand],
  ['sweep', async () => (await import('./sweep.ts')).addSweepCommand],
  ['sweeps', async () => (await import('./sweeps.ts')).addSweepsCommand],
  ['compare', async () => (await import('./compare.ts')).addCompareCommand],
  ['runs', async () => (await import('./runs.ts')).addRunsCommand],
  ['nodes', async () => (await import('./nodes.ts')).addNodesCommand],
  ['data', async () => (await import('./data.ts')).addDataCommand],
  ['presets', async () => (await import('./presets.ts')).addPresetsCommand],
  ['methods', async () => (await import('./catalogue.ts')).addMethodsCommand],
  ['collectives', async () => (await import('./catalogue.ts')).addCollectivesCommand],
  ['models', async () => (await import('./catalogue.ts')).addModelsCommand],
  ['datasets', async () => (await import('./catalogue.ts')).addDatasetsCommand],
  ['optimizers', async () => (await import('./catalogue.ts')).addOptimizersCommand],
  ['spec', async () => (await import('./spec.ts')).addSpecCommand],
  ['compress', async () => (await import('./compress.ts')).addCompressCommand],
  ['decompress', async () => (await import('./decompress.ts')).addDecompressCommand],
  ['plan', async () => (await import('./plan.ts')).addPlanCommand],
  ['allreduce', async () => (await import('./allreduce.ts')).addAllreduceCommand],
  ['bench', async () => (await import('./bench.ts')).addBenchCommand],
  ['reproduce', async () => (await import('./reproduce.ts')).addReproduceCommand],
  ['errors', async () => (await import('./errors.ts')).addErrorsCommand],
  ['completion', async () => (await import('./completion.ts')).addCompletionCommand],
  ['settings', async () => (await import('./settings.ts')).addSettingsCommand],
  ['serve', async () => (await import('./serve.ts')).addServeCommand],
  ['start', async () => (await import('./start.ts')).addStartCommand],
]);
