/**
 * `gradwire bench pytorch`: the time of a step of a DDP program, by its own clock: with DDP over
 * Gloo, PyTorch's communication hooks, and joined to Gradwire, each after the other in one run.
 * `--links 1gbit`: peers on the loopback of a network namespace, shaped to 1 Gbit/s for each rank
 * (Linux, root). Gradwire's ranks of one machine use Unix sockets, which nothing shapes, so they have
 * an emulated link of that speed.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../src/disk/temporary-directory.ts';
import { hasPython, pythonFile } from '../scripts/python-environment.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import { failure, inputError } from '../src/shared/errors/errors.ts';
import './parent.ts';
import { median } from './quantiles.ts';

const script = path.join(import.meta.dirname, 'pytorch/step.py');
const command = path.join(import.meta.dirname, '../dist/cli/cli.js');

/** Layers' widths by the number of parameters. */
const MODELS = new Map([
  ['0.2M', '784,256,10'],
  ['15M', '784,3500,3500,10'],
  ['66M', '784,7740,7740,10'],
]);

interface Way {
  readonly name: string;
  readonly hook: string;
  /** Arguments of `gradwire exec`; undefined for PyTorch alone. */
  readonly exchange?: readonly string[];
}

// PyTorch's hook for bf16 needs NCCL.
const WAYS: readonly Way[] = [
  { name: 'DDP, Gloo', hook: 'none' },
  { name: 'DDP fp16', hook: 'fp16' },
  { name: 'DDP PowerSGD r=2', hook: 'powersgd' },
  { name: 'none', hook: 'gradwire', exchange: ['--method', 'none'] },
  { name: 'bf16', hook: 'gradwire', exchange: ['--method', 'bf16'] },
  { name: 'fp16', hook: 'gradwire', exchange: ['--method', 'fp16'] },
  {
    name: 'topk 1 %',
    hook: 'gradwire',
    exchange: ['--method', 'topk', '--set', 'exchange.ratio=0.01'],
  },
  {
    name: 'qsgd 4 bit',
    hook: 'gradwire',
    exchange: ['--method', 'qsgd', '--set', 'exchange.bits=4'],
  },
  {
    name: 'powersgd r=2',
    hook: 'gradwire',
    exchange: ['--method', 'powersgd', '--set', 'exchange.rank=2'],
  },
];

interface Result {
  readonly torch: string;
  readonly threads: number;
  readonly blas: string;
  readonly capability: string;
  readonly parameters: number;
  readonly times: readonly number[];
  readonly computing: readonly number[];
}

interface Row {
  readonly model: string;
  readonly ranks: number;
  readonly link: string;
  readonly way: string;
  readonly stepMs: number;
  readonly computeMs: number;
}

const { values } = parseArgs({
  options: {
    models: { type: 'string', default: '0.2M,15M' },
    ranks: { type: 'string', default: '2' },
    links: { type: 'string', default: 'loopback' },
    steps: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  if (!hasPython('tests')) {
    throw failure('PYTORCH_MISSING', 'there is no PyTorch in .venv', {
      next: 'npm test makes it.',
    });
  }
  const rows: Row[] = [];
  let facts: Result | undefined;
  for (const model of chosen('models', values.models, [...MODELS.keys()])) {
    for (const link of chosen('links', values.links, ['loopback', '1gbit'])) {
      for (const ranks of values.ranks.split(',').map(Number)) {
        for (const way of WAYS) {
          const result = await measure(way, { model, ranks, link });
          facts ??= result;
          const row = {
            model,
            ranks,
            link,
            way: way.name,
            stepMs: median([...result.times]),
            computeMs: median([...result.computing]),
          };
          rows.push(row);
          if (values.json) console.log(JSON.stringify(row));
        }
      }
    }
  }
  if (values.json) return;
  console.log(
    `PyTorch ${facts?.torch}, ${facts?.blas}, ${facts?.capability}, ${facts?.threads} thread a rank; ` +
      `${cpus().length} cores, ${cpus()[0]?.model}`,
  );
  console.log(tableOf(rows));
}

function chosen(
  option: string,
  given: string,
  known: readonly string[],
): readonly string[] {
  return given.split(',').map((name) => {
    if (known.includes(name)) return name;
    throw inputError('USAGE', `--${option}: there is no "${name}"`, {
      next: `There is: ${known.join(', ')}.`,
    });
  });
}

async function measure(
  { exchange, hook }: Way,
  { link, model, ranks }: { model: string; ranks: number; link: string },
): Promise<Result> {
  const args = [
    '--widths',
    MODELS.get(model)!,
    '--hook',
    hook,
    '--steps',
    values.steps,
  ];
  const program = [pythonFile, script, ...args];
  const home = temporaryDirectory('gradwire-bench-');
  try {
    const text =
      exchange === undefined
        ? await runRanks(program, ranks, link)
        : await run(
            [
              ...[
                process.execPath,
                command,
                'exec',
                '--json',
                '--ranks',
                String(ranks),
              ],
              ...[...exchange, ...emulated(link), '--', ...program],
            ],
            'loopback',
            ranks,
            { GRADWIRE_HOME: home, OMP_NUM_THREADS: '1' },
          );
    return resultOf(text);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The spec's network for a link. */
function emulated(link: string): readonly string[] {
  return link === 'loopback' ? [] : ['--set', 'network.bandwidth=1 Gbit/s'];
}

/** The result's line, printed by rank 0 or in the record of its log. */
function resultOf(text: string): Result {
  for (const line of text.split('\n')) {
    if (line.startsWith('RESULT ')) return JSON.parse(line.slice(7)) as Result;
    if (!line.startsWith('{')) continue;
    const record = JSON.parse(line) as {
      readonly type?: string;
      readonly text?: string;
    };
    if (record.type !== 'log' || record.text?.startsWith('RESULT ') !== true) continue;
    return JSON.parse(record.text.slice(7)) as Result;
  }
  throw new Error(`no result in: ${text.slice(-2000)}`);
}

/** Runs the ranks as torchrun starts them. */
async function runRanks(
  program: readonly string[],
  ranks: number,
  link: string,
): Promise<string> {
  const port = String(await freePort());
  const each = program.map((word) => `'${word}'`).join(' ');
  const lines = Array.from({ length: ranks }, (_, rank) => `RANK=${rank} ${each} &`);
  return await run(['/bin/sh', '-c', `${lines.join('\n')}\nwait`], link, ranks, {
    WORLD_SIZE: String(ranks),
    MASTER_ADDR: '127.0.0.1',
    MASTER_PORT: port,
    OMP_NUM_THREADS: '1',
  });
}

/** Output of a command; in a namespace of its own if the link is shaped. */
async function run(
  argv: readonly string[],
  link: string,
  ranks: number,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const shaped = [
    'ip link set lo up',
    `tc qdisc add dev lo root tbf rate ${ranks}gbit burst 256kb latency 200ms`,
    'exec "$@"',
  ].join(' && ');
  const prefix =
    link === 'loopback' ? [] : ['unshare', '--net', '/bin/sh', '-c', shaped, 'sh'];
  const [first, ...rest] = [...prefix, ...argv];
  const child = spawn(first!, rest, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${String(code)}`);
  return text;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => {
        resolve(port);
      });
    });
  });
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const same = (other: Row): boolean =>
      other.model === row.model && other.ranks === row.ranks && other.link === row.link;
    const dense = rows.find((other) => same(other) && other.way === WAYS[0]!.name)!;
    return [
      ...[row.model, String(row.ranks), row.link, row.way],
      ...[row.stepMs.toFixed(1), row.computeMs.toFixed(1)],
      `${(dense.stepMs / row.stepMs).toFixed(2)}×`,
    ];
  });
  const head = [
    'model',
    'ranks',
    'link',
    'communication',
    'step ms',
    'alone ms',
    'faster',
  ];
  const right = ['right', 'right', 'right'] as const;
  return textTable([head, ...lines], ['left', 'left', 'left', 'left', ...right]);
}
