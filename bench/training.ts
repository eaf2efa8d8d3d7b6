/**
 * `gradwire bench training`: samples a second, memory and the parts of an iteration, for a
 * rank on one thread, beside the same models in PyTorch on one thread; with --backend torch both have
 * all cores. The two take turns, so that a busy moment of the machine is not one side's alone.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { reportError } from '../src/cli/text/report-error.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import { inputError } from '../src/shared/errors/errors.ts';
import './parent.ts';
import { askPython, peerPython, torchMissing } from './peers/python.ts';
import { factsText, type TorchFacts } from './peers/torch-facts.ts';
import { median } from './quantiles.ts';
import { TRAINING_CASES, type TrainingCase } from './training/cases.ts';
import { kernelTimes, outsideProducts } from './training/outside-products.ts';
import { trainOwn, type OwnTraining } from './training/own-run.ts';

const script = path.join(import.meta.dirname, 'peers/torch_training.py');

interface TorchTraining extends TorchFacts {
  readonly parameters: number;
  readonly seconds: readonly number[];
  readonly peak: number;
}

interface Row {
  readonly model: string;
  readonly batch: number;
  readonly backend: string;
  readonly samplesPerSecond: number;
  readonly computeMs: number;
  /** The share of the compute time, from 0 to 1; absent on a GPU. */
  readonly outsideProducts?: number;
  readonly applyMs: number;
  readonly restMs: number;
  readonly peakMB: number;
  readonly goal?: number;
  /** Results of PyTorch; absent where it is not installed. */
  readonly torch?: {
    readonly facts: TorchFacts;
    readonly samplesPerSecond: number;
    readonly peakMB: number;
    readonly ratio: number;
  };
}

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      models: { type: 'string' },
      backend: { type: 'string', default: 'wasm' },
      python: { type: 'string', default: peerPython },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds > 0)) {
    throw inputError('USAGE', `--rounds ${values.rounds}: not a positive whole number`);
  }
  // A GPU beside a processor's thread says nothing.
  const missing =
    values.backend === 'webgpu'
      ? 'PyTorch runs on the processor here'
      : await torchMissing(values.python);
  if (missing !== undefined) process.stderr.write(`no peer: ${missing}\n`);
  const rows: Row[] = [];
  for (const one of chosen(values.models)) {
    const peer = missing === undefined;
    const row = await measure(one, { ...values, rounds, peer });
    rows.push(row);
    if (values.json) console.log(JSON.stringify(row));
  }
  if (!values.json) printTable(rows);
}

function chosen(ids: string | undefined): readonly TrainingCase[] {
  if (ids === undefined) return TRAINING_CASES;
  return ids.split(',').map((id) => {
    const one = TRAINING_CASES.find(({ model }) => model === id);
    if (one !== undefined) return one;
    const known = TRAINING_CASES.map(({ model }) => model).join(', ');
    throw inputError('USAGE', `--models: there is no "${id}"`, {
      next: `There is: ${known}.`,
    });
  });
}

interface Measurement {
  readonly backend: string;
  readonly rounds: number;
  /** Whether PyTorch is measured as well. */
  readonly peer: boolean;
  /** The Python that has it. */
  readonly python: string;
}

async function measure(
  one: TrainingCase,
  { backend, peer: hasPeer, python, rounds }: Measurement,
): Promise<Row> {
  const { batch, goal, iterations, model, parameters } = one;
  const threads = backend === 'torch' ? availableParallelism() : 1;
  const ours: OwnTraining[] = [];
  const theirs: TorchTraining[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await trainOwn(one, backend, python));
    if (!hasPeer) continue;
    const torch = await askPython<TorchTraining>(
      python,
      script,
      ...[model, ...[batch, iterations, threads].map(String)],
    );
    if (torch.parameters !== parameters) {
      throw new Error(
        `${model} has ${parameters} parameters, PyTorch's ${torch.parameters}`,
      );
    }
    theirs.push(torch);
  }
  const of = (key: 'wall' | 'compute' | 'apply' | 'rest' | 'peak'): number =>
    median(ours.map((each) => each[key]));
  const samplesPerSecond = (1000 * batch) / of('wall');
  const row = {
    model,
    batch,
    backend,
    // The goals are those of WebAssembly.
    ...(backend === 'torch' ? {} : { goal }),
    samplesPerSecond,
    computeMs: of('compute'),
    applyMs: of('apply'),
    restMs: of('rest'),
    peakMB: of('peak') / 1e6,
    ...(backend === 'wasm' && {
      outsideProducts: outsideProducts(await kernelTimes(model)),
    }),
  };
  if (theirs.length === 0) return row;
  const { blas, capability, threads: theirThreads, torch } = theirs[0]!;
  const peer = batch / median(theirs.map(({ seconds }) => median([...seconds])));
  return {
    ...row,
    torch: {
      facts: { torch, threads: theirThreads, blas, capability },
      samplesPerSecond: peer,
      peakMB: median(theirs.map(({ peak }) => peak)) / 1e6,
      ratio: samplesPerSecond / peer,
    },
  };
}

function printTable(rows: readonly Row[]): void {
  const header = [
    ...['model', 'batch', 'samples/s', 'compute ms', 'not products'],
    ...['apply ms', 'rest ms', 'MB'],
    ...['PyTorch samples/s', 'MB', 'ratio', 'goal', ''],
  ];
  const lines = rows.map(({ torch, ...row }) => [
    ...[row.model, String(row.batch), row.samplesPerSecond.toFixed(0)],
    ...[row.computeMs.toFixed(2), percent(row.outsideProducts)],
    ...[row.applyMs, row.restMs].map((ms) => ms.toFixed(2)),
    row.peakMB.toFixed(0),
    ...(torch === undefined
      ? ['', '', '', '', '']
      : [
          ...[torch.samplesPerSecond.toFixed(0), torch.peakMB.toFixed(0)],
          `${torch.ratio.toFixed(2)}×`,
          ...(row.goal === undefined
            ? ['', '']
            : [`≥ ${row.goal}×`, torch.ratio >= row.goal ? 'met' : 'MISSED']),
        ]),
  ]);
  const facts = rows.find(({ torch }) => torch !== undefined)?.torch?.facts;
  if (facts !== undefined) console.log(factsText(facts));
  const numbers = Array.from({ length: 10 }, () => 'right' as const);
  console.log(textTable([header, ...lines], ['left', ...numbers, 'right', 'left']));
}

function percent(share: number | undefined): string {
  return share === undefined ? '' : `${(100 * share).toFixed(0)} %`;
}
