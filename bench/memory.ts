/**
 * `node bench/memory.ts [MODEL …]`: what `gradwire plan` says that a rank needs in memory, beside the peak
 * of real ranks (VmHWM). Linux. How to read it: docs/benchmarks.md.
 *
 * What would be noticed here: a part that the estimate forgets, and a process that grew.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryDirectory } from '../src/disk/temporary-directory.ts';
import { inspectSpec, specMemory, stepMemory } from '../src/agent/engine.ts';
import { parseExperimentSpec } from '../src/shared/spec/experiment-spec.ts';
import { formatBytes } from '../src/shared/words/units.ts';
import './parent.ts';

const COMMAND = path.join(import.meta.dirname, '../bin/gradwire.js');
const POLL_MS = 50;
const RANKS = 2;

const NONE = { method: 'none' };
const TOPK = { method: 'topk', ratio: 0.01 };
const DGC = { method: 'dgc', ratio: 0.01 };
const SGD = { kind: 'sgd', lr: 0.01, momentum: 0.9 };
const ADAGRAD = { kind: 'adagrad', lr: 0.01 };

/** Model, data set, batch of a rank, exchange and optimiser. */
const RUNS = [
  ['fnn3', 'digits', 4, TOPK, SGD],
  ['fnn3', 'digits', 1024, NONE, SGD],
  ['dlrm', 'clicks', 4, NONE, ADAGRAD],
  ['fnn3', 'digits', 4, DGC, SGD],
  ['lstm-small', 'sentences', 64, NONE, SGD],
  ['resnet-20', 'shapes', 4, DGC, SGD],
  ['resnet-20', 'shapes', 32, NONE, SGD],
] as const;
const asked = process.argv.slice(2);
const SPECS = RUNS.filter(([model]) => asked.length === 0 || asked.includes(model)).map(
  ([model, dataset, batchPerRank, exchange, optimizer]) => ({
    workload: { model, dataset, batchPerRank },
    world: { ranks: RANKS },
    exchange,
    optimizer,
    iterations: 2,
    evaluateEvery: 0,
    backend: 'wasm',
  }),
);

for (const raw of SPECS) {
  const spec = parseExperimentSpec(raw);
  const known = await inspectSpec(spec);
  const step = await stepMemory(spec, known);
  const [memory] = specMemory(spec, [spec.world.ranks], known, step);
  const estimate = memory!.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const peak = await peakOf(raw);
  const { batchPerRank, model } = raw.workload;
  const run = `${model}, ${batchPerRank}, ${spec.exchange.method}`;
  const figures =
    `estimate ${formatBytes(estimate)} (computing ${formatBytes(step?.computing ?? 0)}), ` +
    `peak ${formatBytes(peak)}`;
  console.log(`${run}: ${figures}, ratio ${(peak / estimate).toFixed(2)}`);
}

/** The largest peak of a run's ranks, bytes. */
async function peakOf(spec: object): Promise<number> {
  const home = temporaryDirectory('gradwire-memory-');
  const command = spawn(process.execPath, [COMMAND, 'run', '-'], {
    env: { ...process.env, GRADWIRE_HOME: home },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  command.stdin.end(JSON.stringify(spec));
  const ended = once(command, 'exit');
  let peak = 0;
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) {
    peak = Math.max(peak, ...workersOf(home).map(peakOfProcess));
    await pause(POLL_MS);
  }
  const [code] = (await ended) as [number];
  if (code !== 0) throw new Error(`the run ended with code ${code}`);
  rmSync(home, { recursive: true, force: true });
  return peak;
}

/** The children of the supervisor of a home. */
function workersOf(home: string): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const supervisor = pids.find((pid) => {
    return read(pid, 'cmdline').startsWith(`gradwire supervisor ${home}`);
  });
  if (supervisor === undefined) return [];
  const isChild = (pid: string): boolean =>
    new RegExp(`^PPid:\\s+${supervisor}$`, 'm').test(read(pid, 'status'));
  return pids.filter(isChild).map(Number);
}

function peakOfProcess(pid: number): number {
  const [, kilobytes = '0'] =
    /^VmHWM:\s+(\d+)/m.exec(read(String(pid), 'status')) ?? [];
  return 1024 * Number(kilobytes);
}

/** Empty for a process that has ended. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
