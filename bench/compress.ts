/**
 * `gradwire bench compress`: every method on vectors of several kinds and sizes, one
 * thread, beside a SIMD read of the same memory and, with `--peers`, beside PyTorch. How to
 * read it: docs/benchmarks.md.
 *
 * What would be noticed here: a kernel that leaves memory speed, a selection whose sample
 * misleads, an encode that allocates.
 */
import { openBackend } from '../src/agent/codec/backend.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import { GradwireError } from '../src/shared/errors/errors.ts';
import type { BenchCase } from './compress/cases.ts';
import {
  timeEncode,
  type EncodeTiming,
  type Workbench,
} from './compress/encode-timing.ts';
import { parseOptions, type BenchOptions } from './compress/options.ts';
import { COMPARISONS, timePeers } from './compress/peers.ts';
import { makeVector, type VectorName } from './compress/vectors.ts';
import { torchMissing } from './peers/python.ts';
import { factsText } from './peers/torch-facts.ts';
import { median } from './quantiles.ts';
import './parent.ts';

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const missing = options.peers ? await torchMissing() : undefined;
  if (missing !== undefined) process.stderr.write(`no peers: ${missing}\n`);
  const task = { ...options, peers: options.peers && missing === undefined };
  for (const n of task.lengths) {
    using backend = await openBackend(task.backend);
    const { arena } = backend;
    const bench: Workbench = {
      ...backend,
      x: arena.allocateVector(n),
      gradient: arena.allocateVector(n),
      residual: arena.allocateVector(n),
    };
    for (const name of task.vectors) await measure(bench, name, task);
  }
}

async function measure(
  bench: Workbench,
  name: VectorName,
  task: BenchOptions,
): Promise<void> {
  const { backend, json } = task;
  const { arena, kernels, x } = bench;
  const n = x.length;
  const { values, note } = await makeVector(name, n);
  arena.f32(x).set(values);
  // Looking for an entry that is not there reads all of it and does nothing else.
  const readMs = medianOf(() => kernels.firstNonFinite(x));
  if (json) print({ type: 'read', vector: name, n, ms: readMs, note });
  const times = new Map<string, EncodeTiming>();
  for (const one of task.cases) {
    const timing = await timeIfPossible(bench, one);
    if (timing === undefined) continue;
    times.set(one.name, timing);
    if (json) print({ ...row(name, n, readMs, one, timing), backend });
  }
  if (!json) printTable(n, `${note}; ${backend}`, readMs, times);
  if (task.peers) await comparePeers(name, values, times, json);
}

/** The time; undefined where the backend has no way to do it. */
async function timeIfPossible(
  bench: Workbench,
  one: BenchCase,
): Promise<EncodeTiming | undefined> {
  try {
    return await timeEncode(bench, one);
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    if (error.code !== 'BACKEND_UNAVAILABLE') throw error;
    process.stderr.write(`left out: ${error.message}\n`);
    return undefined;
  }
}

async function comparePeers(
  vector: VectorName,
  values: Float32Array,
  times: ReadonlyMap<string, EncodeTiming>,
  json: boolean,
): Promise<void> {
  const peers = await timePeers(values);
  const rows = COMPARISONS.flatMap(([name, operation, goal]) => {
    const ours = times.get(name);
    if (ours === undefined) return [];
    const ratio = peers[operation] / ours.ms;
    return [{ name, operation, ms: ours.ms, peerMs: peers[operation], ratio, goal }];
  });
  if (json) {
    for (const each of rows) {
      const { blas, capability, threads, torch } = peers;
      const about = { torch, threads, blas, capability };
      print({ type: 'peer', vector, n: values.length, ...about, ...each });
    }
    return;
  }
  const table = rows.map(({ name, operation, ms, peerMs, ratio, goal }) => [
    name,
    ms.toFixed(2),
    `torch ${operation}`,
    peerMs.toFixed(1),
    `${ratio.toFixed(1)}×`,
    goal === undefined ? '' : `≥ ${goal}×`,
    goal === undefined ? '' : ratio >= goal ? 'met' : 'MISSED',
  ]);
  const header = ['case', 'ms', 'PyTorch', 'ms', 'ratio', 'goal', ''];
  console.log(factsText(peers));
  console.log(
    `${textTable(
      [header, ...table],
      ['left', 'right', 'left', 'right', 'right', 'right', 'left'],
    )}\n`,
  );
}

/** Bytes of f32 read, per second, in 10⁹. */
function bandwidth(n: number, ms: number): number {
  return (4 * n) / ms / 1e6;
}

function row(
  vector: VectorName,
  n: number,
  readMs: number,
  { name, method, parameters }: BenchCase,
  timing: EncodeTiming,
): object {
  return {
    type: 'method',
    vector,
    n,
    name,
    method,
    parameters,
    ...timing,
    gigabytesPerSecond: bandwidth(n, timing.ms),
    ratio: (4 * n) / timing.payloadBytes,
    shareOfRead: readMs / timing.ms,
  };
}

function printTable(
  n: number,
  note: string,
  readMs: number,
  times: ReadonlyMap<string, EncodeTiming>,
): void {
  const header = [
    ...['method', 'ms', 'GB/s', 'of read', 'payload', 'ratio', 'error', 'cosine'],
    ...['arena', 'heap'],
  ];
  const rows = [...times].map(([name, timing]) => [
    name,
    timing.ms.toFixed(2),
    // What sends the gradient itself does not read it.
    ...(timing.ms < readMs / 10
      ? ['', '']
      : [
          bandwidth(n, timing.ms).toFixed(1),
          `${((100 * readMs) / timing.ms).toFixed(0)} %`,
        ]),
    String(timing.payloadBytes),
    ((4 * n) / timing.payloadBytes).toPrecision(3),
    timing.relativeError.toFixed(3),
    timing.cosine.toFixed(3),
    String(timing.arenaBytes),
    String(timing.heapBytes),
  ]);
  const read = `${readMs.toFixed(2)} ms, ${bandwidth(n, readMs).toFixed(1)} GB/s`;
  console.log(`n = ${n}, ${note}, one thread; a SIMD read: ${read}`);
  console.log(
    `${textTable(
      [header, ...rows],
      header.map((_, column) => (column === 0 ? 'left' : 'right')),
    )}\n`,
  );
}

function medianOf(work: () => unknown): number {
  work();
  return median(
    Array.from({ length: 7 }, () => {
      const start = performance.now();
      work();
      return performance.now() - start;
    }),
  );
}

function print(line: object): void {
  console.log(JSON.stringify(line));
}
