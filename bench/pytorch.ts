/**
 * `gradwire bench pytorch`: the time of a step of a DDP program, by its own clock: with DDP over
 * Gloo, with `--peers` by PyTorch's communication hooks, and joined to Gradwire, each after the other
 * in one run. `--links 1gbit`: peers on the loopback of a network namespace, shaped to 1 Gbit/s for
 * each rank (Linux, root). Gradwire's ranks of one machine use Unix sockets, which nothing shapes, so
 * they have an emulated link of that speed.
 *
 * `--observe`: in place of these, the program over Gloo under `gradwire exec --observe` beside itself.
 */
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { hasPython } from '../scripts/python-environment.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { failure, inputError } from '../src/shared/errors/errors.ts';
import './parent.ts';
import {
  latePairs,
  measureObserving,
  observedTable,
  type ObservedRow,
} from './pytorch/observing.ts';
import { measure, MODELS, type Result } from './pytorch/programs.ts';
import { crowded, stepRow, stepTable, type StepRow } from './pytorch/step-table.ts';

interface Way {
  readonly name: string;
  readonly hook: string;
  /** Arguments of `gradwire exec`; undefined for PyTorch alone. */
  readonly exec?: readonly string[];
}

const DENSE: Way = { name: 'DDP, Gloo', hook: 'none' };

// PyTorch's hook for bf16 needs NCCL.
const PEERS: readonly Way[] = [
  { name: 'DDP fp16', hook: 'fp16' },
  { name: 'DDP PowerSGD r=2', hook: 'powersgd' },
];

const OURS: readonly Way[] = [
  { name: 'none', hook: 'gradwire', exec: ['--method', 'none'] },
  { name: 'bf16', hook: 'gradwire', exec: ['--method', 'bf16'] },
  { name: 'fp16', hook: 'gradwire', exec: ['--method', 'fp16'] },
  {
    name: 'topk 1 %',
    hook: 'gradwire',
    exec: ['--method', 'topk', '--set', 'exchange.ratio=0.01'],
  },
  {
    name: 'qsgd 4 bit',
    hook: 'gradwire',
    exec: ['--method', 'qsgd', '--set', 'exchange.bits=4'],
  },
  {
    name: 'powersgd r=2',
    hook: 'gradwire',
    exec: ['--method', 'powersgd', '--set', 'exchange.rank=2'],
  },
];

const { values } = parseArgs({
  options: {
    models: { type: 'string' },
    ranks: { type: 'string', default: '2' },
    links: { type: 'string' },
    steps: { type: 'string' },
    peers: { type: 'boolean', default: false },
    observe: { type: 'boolean', default: false },
    pairs: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const cores = availableParallelism();
const ranksToTry = values.ranks.split(',').map(Number);

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  if (values.observe && (values.links !== undefined || values.peers)) {
    throw inputError('USAGE', '--observe goes with neither --links nor --peers', {
      next: 'The program that is observed communicates by itself, over the loopback.',
    });
  }
  if (!values.observe && values.pairs !== undefined) {
    throw inputError('USAGE', '--pairs is for --observe', { next: 'Give both.' });
  }
  if (!hasPython('tests')) {
    throw failure('PYTORCH_MISSING', 'there is no PyTorch in .venv', {
      next: 'npm test makes it.',
    });
  }
  await (values.observe ? observe() : compare());
}

async function compare(): Promise<void> {
  const rows: StepRow[] = [];
  let facts: Result | undefined;
  const steps = Number(values.steps ?? 20);
  const ways = [DENSE, ...(values.peers ? PEERS : []), ...OURS];
  const links = chosen('links', values.links ?? 'loopback', ['loopback', '1gbit']);
  for (const model of modelsToTry('0.2M,15M')) {
    for (const link of links) {
      for (const ranks of ranksToTry) {
        for (const { exec, hook, name: way } of ways) {
          const { result } = await measure({ model, ranks, link, hook, exec, steps });
          facts ??= result;
          const row = stepRow({ model, ranks, cores, link, way }, result);
          rows.push(row);
          if (values.json) console.log(JSON.stringify(row));
        }
      }
    }
  }
  if (values.json) return;
  console.log(
    `PyTorch ${facts?.torch}, ${facts?.blas}, ${facts?.capability}, ${facts?.threads} thread a rank; ${machine()}`,
  );
  for (const line of crowded(ranksToTry, cores)) console.log(line);
  console.log(stepTable(rows, DENSE.name));
}

async function observe(): Promise<void> {
  const rows: ObservedRow[] = [];
  const pairs = Number(values.pairs ?? 5);
  const steps = Number(values.steps ?? 200);
  // A step of some 20 ms on one core.
  for (const model of modelsToTry('3M')) {
    for (const ranks of ranksToTry) {
      const row = await measureObserving({ model, ranks, cores }, { pairs, steps });
      rows.push(row);
      if (values.json) console.log(JSON.stringify(row));
    }
  }
  if (values.json) return;
  console.log(`DDP over Gloo, medians of ${steps} steps; ${machine()}`);
  for (const line of [...crowded(ranksToTry, cores), ...latePairs(rows)]) {
    console.log(line);
  }
  console.log(observedTable(rows));
}

function machine(): string {
  return `${cores} cores, ${cpus()[0]?.model}`;
}

function modelsToTry(usual: string): readonly string[] {
  return chosen('models', values.models ?? usual, [...MODELS.keys()]);
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
