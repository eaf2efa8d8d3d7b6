/**
 * The program of the benchmark, `step.py`: all of its ranks, started plainly or by `gradwire exec`,
 * and what rank 0 measured, which it writes to a file.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { pythonFile } from '../../scripts/python-environment.ts';

const script = path.join(import.meta.dirname, 'step.py');
const command = path.join(import.meta.dirname, '../../dist/cli/cli.js');

/** Layers' widths by the number of parameters. */
export const MODELS: ReadonlyMap<string, string> = new Map([
  ['0.2M', '784,256,10'],
  ['3M', '784,1350,1350,10'],
  ['15M', '784,3500,3500,10'],
  ['66M', '784,7740,7740,10'],
]);

/** Not counted: the first steps make buffers and find their pace. */
const FIRST_STEPS = 5;

/** Times are milliseconds; lists have one for each step that counts. */
export interface Result {
  readonly torch: string;
  readonly threads: number;
  readonly blas: string;
  readonly capability: string;
  readonly parameters: number;
  readonly times: readonly number[];
  readonly computing: readonly number[];
  /** Milliseconds since 1970 at the first step that counts. */
  readonly countedFrom: number;
  /** Processor time of a joined program: copies to the agent's memory and back, and messages. */
  readonly copies?: readonly number[];
  readonly messages?: readonly number[];
}

export interface Measured {
  readonly result: Result;
  /** Milliseconds since 1970 at the prediction of an observed program, if it has come. */
  readonly predictedAt: number | undefined;
}

interface ProgramOptions {
  readonly model: string;
  readonly ranks: number;
  readonly link: string;
  /** DDP's communication hook, or `gradwire`. */
  readonly hook: string;
  /** Arguments of `gradwire exec`; undefined for PyTorch alone. */
  readonly exec?: readonly string[] | undefined;
  readonly steps: number;
  /** Steps before those that count. */
  readonly first?: number;
}

export async function measure(options: ProgramOptions): Promise<Measured> {
  const { exec, first = FIRST_STEPS, hook, link, model, ranks, steps } = options;
  const home = temporaryDirectory('gradwire-bench-');
  const file = path.join(home, 'result.json');
  const program = [
    ...[pythonFile, script, '--widths', MODELS.get(model)!, '--hook', hook],
    ...['--first', String(first), '--steps', String(steps), '--result', file],
  ];
  try {
    let predictedAt: number | undefined;
    if (exec === undefined) await runRanks(program, ranks, link);
    else {
      const words = [process.execPath, command, 'exec', '--json', '--ranks'];
      const records = await run(
        [...words, String(ranks), ...exec, ...emulated(link), '--', ...program],
        'loopback',
        ranks,
        { GRADWIRE_HOME: home, OMP_NUM_THREADS: '1' },
      );
      predictedAt = predictionIn(records);
    }
    return { result: JSON.parse(readFileSync(file, 'utf8')) as Result, predictedAt };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The moment of the first prediction in the records of a run. */
export function predictionIn(records: string): number | undefined {
  for (const line of records.split('\n')) {
    if (!line.startsWith('{')) continue;
    const record = JSON.parse(line) as { readonly type?: string; readonly at?: number };
    if (record.type === 'forecast') return record.at;
  }
  return undefined;
}

/** The spec's network for a link. */
function emulated(link: string): readonly string[] {
  return link === 'loopback' ? [] : ['--set', 'network.bandwidth=1 Gbit/s'];
}

/** Runs the ranks as torchrun starts them. */
async function runRanks(
  program: readonly string[],
  ranks: number,
  link: string,
): Promise<void> {
  const port = String(await freePort());
  const each = program.map((word) => `'${word}'`).join(' ');
  const lines = Array.from({ length: ranks }, (_, rank) => `RANK=${rank} ${each} &`);
  await run(['/bin/sh', '-c', `${lines.join('\n')}\nwait`], link, ranks, {
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
