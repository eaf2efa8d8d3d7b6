/**
 * `gradwire bench …`: the benchmarks of bench/, run from their sources. They measure this
 * installation and are no part of an installed package.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { installationRoot } from '../../main/home/installation.ts';
import { failure } from '../../shared/errors.ts';
import { addBenchNetworkCommand } from './bench-network.ts';

const JSON_LINES = 'one JSON object per line';

export function addBenchCommand(program: Command): void {
  const bench = program
    .command('bench')
    .description('measure this installation on this machine');
  bench
    .command('app')
    .description('what the app costs')
    .option('--cluster', 'what machines reached by SSH cost instead, on a real sshd')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('app', options));
  bench
    .command('collectives')
    .description(
      'the collectives between real processes; without a section: sweep, exchange',
    )
    .option('--sweep', 'dense vectors of all sizes')
    .option('--sparse', "SparCML's microbenchmark, and time against density")
    .option('--grid', 'sparse vectors, for what auto chooses')
    .option('--exchange', 'one iteration of FNN-3, and what its time goes to')
    .option('--memory', 'the arena of a rank at its peak')
    .option('--emulation', 'emulated links beside shaped ones; needs root')
    .option('--ranks <counts>', 'processes, as 2,4,8')
    .option('--sizes <bytes>', 'of the dense vectors, as 8,64K,4M')
    .option('--transport <name>', 'auto, tcp or native')
    .option(
      '--links <names>',
      'of loopback,1gbit,10gbit,emulated-1gbit,emulated-10gbit; shaped ones need root',
    )
    .option('--peers', 'OpenMPI and Gloo beside ours, where they are installed')
    .option('--quick', 'a few repetitions of a few sizes: whether it works')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('collectives', options));
  bench
    .command('compress')
    .description('what compressing costs, by every method')
    .option('--n <lengths>', 'elements of the vectors, as 1M,25M')
    .option('--methods <ids>', 'only these, as topk,qsgd')
    .option('--vectors <names>', 'only these of gaussian,laplace,recorded')
    .option('--backend <name>', 'reference, wasm or webgpu')
    .option('--peers', 'the same in PyTorch, where /usr/bin/python3 has it')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('compress', options));
  bench
    .command('training')
    .description(
      'what an iteration costs, by model, beside PyTorch where it is installed',
    )
    .option('--models <ids>', 'only these of fnn3,lstm-small,resnet-20')
    .option('--backend <name>', 'wasm or webgpu')
    .option('--rounds <count>', 'how often ours and PyTorch take turns')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('training', options));
  addBenchNetworkCommand(bench);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The options go to the benchmark as they were given. */
async function runBenchmark(
  name: string,
  options: Readonly<Record<string, string | boolean>>,
): Promise<void> {
  const file = path.join(installationRoot(), 'bench', `${name}.ts`);
  if (!existsSync(file)) {
    throw failure('BENCH_MISSING', `there is no ${file}`, {
      next: 'Benchmarks run in a checkout of the sources.',
    });
  }
  const args = Object.entries(options).flatMap(([key, value]) =>
    typeof value === 'string' ? [`--${key}`, value] : [`--${key}`],
  );
  // By the channel the benchmark learns that this command has ended (bench/parent.ts).
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, [file, ...args], { stdio: [...stdio] });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  for (const signal of SIGNALS) process.off(signal, forward);
  process.exitCode = code ?? 1;
}
