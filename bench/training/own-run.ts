/** A run of one rank, as installed: real processes, each iteration as it was recorded. */
import { readFileSync } from 'node:fs';
import { GradwireHome, succeeded } from '../../tests/harness/gradwire.ts';
import { childrenOf } from '../../tests/harness/processes.ts';
import { ofType } from '../../tests/harness/records.ts';
import { median } from '../quantiles.ts';
import type { TrainingCase } from './cases.ts';

const WARM_UP = 5;

/** Medians, in ms; memory in bytes. */
export interface OwnTraining {
  readonly wall: number;
  readonly compute: number;
  readonly apply: number;
  /** Time in neither. */
  readonly rest: number;
  /** Peak of resident memory of the rank's process, and of PyTorch's beside it. */
  readonly peak: number;
  readonly device: string;
}

export async function trainOwn(
  { batch, dataset, iterations, model, settings }: TrainingCase,
  backend: string,
  python: string,
): Promise<OwnTraining> {
  await using home = new GradwireHome();
  const all = [
    ...[`workload.model=${model}`, `workload.dataset=${dataset}`, ...settings],
    `workload.batchPerRank=${batch}`,
    ...[
      'world.ranks=1',
      `backend=${backend}`,
      'evaluateEvery=0',
      'optimizer.momentum=0.9',
    ],
    ...(backend === 'torch' ? [`python=${python}`] : []),
    ...[`iterations=${WARM_UP + iterations}`, 'exchange.method=none'],
  ];
  const command = home.start([
    ...['run', 'quickstart', '--json'],
    ...all.flatMap((setting) => ['--set', setting]),
  ]);
  const { processes } = await command.record('started');
  const { pid } = processes[0]!;
  let peak = 0;
  const watch = setInterval(() => {
    const beside = childrenOf(pid, 'gradwire.compute');
    const peaks = [pid, ...beside.map((one) => one.pid)].map(residentPeak);
    peak = Math.max(
      peak,
      peaks.reduce((sum, each) => sum + each, 0),
    );
  }, 100);
  try {
    succeeded(await command.finished);
  } finally {
    clearInterval(watch);
  }
  const records = ofType(command.records, 'iteration').filter(
    ({ iteration }) => iteration >= WARM_UP,
  );
  const of = (value: (record: (typeof records)[number]) => number): number =>
    median(records.map(value));
  return {
    wall: of(({ wall }) => wall),
    compute: of(({ phases }) => phases.compute),
    apply: of(({ phases }) => phases.apply),
    rest: of(({ phases, wall }) => wall - phases.compute - phases.apply),
    peak,
    device: processes[0]!.device ?? backend,
  };
}

/** Bytes, from /proc; 0 where the process has ended. */
function residentPeak(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
