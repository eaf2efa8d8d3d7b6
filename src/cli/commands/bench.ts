/**
 * `gradwire bench …`: the benchmarks of bench/, run from their sources. They measure this
 * installation and are no part of an installed package.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { installationRoot } from '../../main/home/installation.ts';
import { failure } from '../../shared/errors/errors.ts';
import { MOST_RANKS } from '../../shared/spec/experiment-spec.ts';
import { countBetween } from '../text/parse-count.ts';
import { addBenchNetworkCommand } from './bench-network.ts';

const JSON_LINES = 'one JSON object per line';
/** Iterations, steps and turns: more would take years. */
const MOST = 1_000_000_000;

export function addBenchCommand(program: Command): void {
  const bench = program
    .command('bench')
    .description('benchmark this installation on this machine');
  bench
    .command('app')
    .description('measure the cost of the app itself')
    .option(
      '--cluster',
      'measure the cost of machines reached by SSH instead, with a real sshd',
    )
    .option('--long', 'measure the page of a run of 64 ranks for ten minutes instead')
    .option('--timeline', 'measure the timeline of a large trace instead')
    .option('--seconds <count>', 'with --long, in place of 600', countBetween(1, 86400))
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('app', options));
  bench
    .command('collectives')
    .description(
      'measure the collectives between real processes; default sections: sweep, exchange',
    )
    .option('--sweep', 'dense vectors of all sizes')
    .option('--sparse', "SparCML's microbenchmark, and time over density")
    .option('--grid', 'sparse vectors, to check what auto chooses')
    .option('--exchange', 'one iteration of FNN-3, and where its time goes')
    .option('--memory', 'peak arena memory of a rank')
    .option('--emulation', 'emulated links compared with shaped ones; needs root')
    .option(
      '--predictions',
      'what is predicted beside what is measured, 64 KB to 256 MB, 2 to 16 ranks',
    )
    .option('--ranks <counts>', 'processes, as 2,4,8', parseList)
    .option(
      '--sizes <bytes>',
      'sizes of the dense vectors, such as 8,64K,4M',
      parseList,
    )
    .option('--transport <name>', 'auto, tcp or native')
    .option(
      '--links <names>',
      'any of loopback,1gbit,10gbit,emulated-1gbit,emulated-10gbit; shaped links need root',
      parseList,
    )
    .option('--peers', 'compare with OpenMPI and Gloo, where installed')
    .option(
      '--bound',
      'bind each rank, of Gradwire and of --peers, to one core; Linux only',
    )
    .option('--quick', 'few sizes and repetitions, to see that it works')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('collectives', options));
  bench
    .command('compress')
    .description('measure the cost of every compression method')
    .option('--n <lengths>', 'elements of the vectors, such as 1M,25M', parseList)
    .option('--methods <ids>', 'only these methods, such as topk,qsgd', parseList)
    .option(
      '--vectors <names>',
      'only these vectors; any of gaussian,laplace,recorded',
      parseList,
    )
    .option('--backend <name>', 'reference, wasm or webgpu')
    .option('--peers', 'compare with PyTorch, which npm test installs')
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('compress', options));
  bench
    .command('history')
    .description('measure the page and the export of a large stored run, made for it')
    .option(
      '--iterations <count>',
      'of the run; default: 100000',
      countBetween(1, MOST),
    )
    .option('--ranks <count>', 'of the run; default: 8', countBetween(1, MOST_RANKS))
    .option('--database <file>', 'where the run is kept; one that is there is used')
    .option('--generate', 'only make the run')
    .option(
      '--seconds <count>',
      'most seconds of an export; default: 40',
      countBetween(1, 86400),
    )
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('history', options));
  bench
    .command('pytorch')
    .description(
      'measure a step of a PyTorch program: DDP over Gloo, PyTorch’s hooks, and Gradwire',
    )
    .option('--models <names>', 'any of 0.2M,3M,15M,66M', parseList)
    .option('--ranks <counts>', 'processes, as 2,4', parseCounts)
    .option(
      '--links <names>',
      'any of loopback,1gbit; a shaped link needs root',
      parseList,
    )
    .option('--steps <count>', 'steps that count', countBetween(1, MOST))
    .option('--peers', 'compare with PyTorch’s communication hooks, too')
    .option(
      '--observe',
      'measure what it costs a program to be observed instead, beside itself in turns',
    )
    .option(
      '--pairs <count>',
      'with --observe, turns; default: 5',
      countBetween(1, MOST),
    )
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('pytorch', options));
  bench
    .command('training')
    .description(
      'measure an iteration of each model, compared with PyTorch if installed',
    )
    .option(
      '--models <ids>',
      'only these models; any of fnn3,lstm-small,resnet-20',
      parseList,
    )
    .option('--backend <name>', 'wasm, webgpu or torch')
    .option('--python <path>', 'Python with PyTorch; default: that of npm test')
    .option(
      '--rounds <count>',
      'number of turns that Gradwire and PyTorch take',
      countBetween(1, MOST),
    )
    .option('--json', JSON_LINES)
    .action((options) => runBenchmark('training', options));
  addBenchNetworkCommand(bench);
}

/** A list as it was typed, in which nothing is left out. */
function parseList(text: string): string {
  if (text.split(',').every((part) => part.trim() !== '')) return text;
  throw new InvalidArgumentError('It must be a list such as a,b.');
}

function parseCounts(text: string): string {
  return text.split(',').map(countBetween(1, MOST_RANKS)).join(',');
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The options go to the benchmark as they were given. */
async function runBenchmark(
  name: string,
  options: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const file = path.join(installationRoot(), 'bench', `${name}.ts`);
  if (!existsSync(file)) {
    throw failure('BENCH_MISSING', `there is no ${file}`, {
      next: 'Benchmarks run in a checkout of the sources.',
    });
  }
  const args = Object.entries(options).flatMap(([key, value]) =>
    // One word: a value may begin with a dash.
    typeof value === 'boolean' ? [`--${key}`] : [`--${key}=${value}`],
  );
  // By the channel the benchmark learns that this command has ended (bench/parent.ts).
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, [file, ...args], { stdio: [...stdio] });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject).on('close', (status, signal) => {
      // A signal that comes while the benchmark still loads ends it without its handler.
      resolve(status ?? (signal === null ? 1 : 128 + constants.signals[signal]));
    });
  });
  for (const signal of SIGNALS) process.off(signal, forward);
  process.exitCode = code;
}
