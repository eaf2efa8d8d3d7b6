/**
 * `node bench/memory.ts`: what `gradwire plan` says that a rank needs in memory, beside the peak
 * of real ranks (VmHWM). Linux. How to read it: docs/benchmarks.md.
 *
 * What would be noticed here: a part that the estimate forgets, and a process that grew.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inspectSpec, specMemory } from '../src/agent/engine.ts';
import { parseExperimentSpec } from '../src/shared/spec/experiment-spec.ts';
import { formatBytes } from '../src/shared/words/units.ts';
import './parent.ts';

const COMMAND = path.join(import.meta.dirname, '../bin/gradwire.js');
const POLL_MS = 50;

const of = (
  model: string,
  dataset: string,
  exchange: object,
  optimizer: object,
  ranks = 2,
) => ({
  workload: { model, dataset, batchPerRank: 4 },
  world: { ranks },
  exchange,
  optimizer,
  iterations: 12,
  evaluateEvery: 0,
  backend: 'wasm',
});
const SGD = { kind: 'sgd', lr: 0.01, momentum: 0.9 };
const SPECS = [
  of('fnn3', 'digits', { method: 'topk', ratio: 0.01 }, SGD),
  of('dlrm', 'clicks', { method: 'none' }, { kind: 'adagrad', lr: 0.01 }),
  of('fnn3', 'digits', { method: 'dgc', ratio: 0.01 }, SGD),
  of('resnet-20', 'shapes', { method: 'dgc', ratio: 0.01 }, SGD),
];

for (const raw of SPECS) {
  const spec = parseExperimentSpec(raw);
  const [memory] = specMemory(spec, [spec.world.ranks], await inspectSpec(spec));
  const estimate = memory!.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const peak = await peakOf(raw);
  const run = `${raw.workload.model}, ${spec.exchange.method}`;
  const figures = `estimate ${formatBytes(estimate)}, peak ${formatBytes(peak)}`;
  console.log(`${run}: ${figures}, ratio ${(peak / estimate).toFixed(2)}`);
}

/** The largest peak of a run's ranks, bytes. */
async function peakOf(spec: object): Promise<number> {
  const home = mkdtempSync(path.join(tmpdir(), 'gradwire-memory-'));
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
