/**
 * The parts of an iteration's time, FNN-3, P = 4, batch 32 per rank: the engine's overhead is
 * everything that is not compute, wait or bytes in flight. Beside it what the phases'
 * sum leaves open, and what a worker weighs.
 */
import { readFileSync } from 'node:fs';
import {
  sumPhases,
  type Phase,
  type PhaseTimes,
} from '../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { ofType } from '../../tests/harness/records.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';

const ITERATIONS = 600;
const WARM_UP = 50;
/** Time of these is not the engine's: computing, waiting, or bytes on their way. */
const NOT_OVERHEAD: readonly Phase[] = ['compute', 'wait', 'send', 'receive'];

export async function measureIterations(): Promise<readonly Measurement[]> {
  const measurements: Measurement[] = [];
  for (const method of ['none', 'topk', 'a2sgd']) {
    await using home = new GradwireHome();
    const command = home.start([
      'run',
      'quickstart',
      '--json',
      ...[
        'world.ranks=4',
        'workload.batchPerRank=32',
        'backend=wasm',
        'evaluateEvery=0',
      ]
        .concat(`iterations=${ITERATIONS}`, `exchange.method=${method}`)
        .flatMap((setting) => ['--set', setting]),
    ]);
    const { processes } = await command.record('started');
    await command.record('iteration', ({ iteration }) => iteration >= ITERATIONS - 100);
    const peaks = processes.map(({ pid }) => residentPeak(pid));
    await command.finished;
    const records = ofType(command.records, 'iteration').filter(
      ({ iteration }) => iteration >= WARM_UP,
    );
    measurements.push(...describe(method, records, peaks));
  }
  return measurements;
}

function describe(
  method: string,
  records: readonly IterationRecord[],
  peaks: readonly number[],
): readonly Measurement[] {
  const wall = median(records.map((record) => record.wall));
  const overhead = records.map(
    ({ phases, wall: whole }) =>
      (100 *
        (whole - NOT_OVERHEAD.reduce((sum, phase) => sum + (phases[phase] ?? 0), 0))) /
      whole,
  );
  const parts = (['compute', 'wait', 'send', 'receive', 'apply', 'other'] as const)
    .map(
      (phase) =>
        `${phase} ${mean(records.map(({ phases }) => phases[phase])).toFixed(2)}`,
    )
    .join(', ');
  const open = records.map(
    ({ phases, wall: whole }) => 100 * Math.abs(1 - sumPhases(phases) / whole),
  );
  return [
    {
      name: `iteration, ${method}`,
      value: wall,
      unit: 'ms',
      note: `median of ${records.length}; means in ms: ${parts}`,
    },
    {
      name: `engine overhead, ${method}`,
      value: median(overhead),
      unit: '%',
      goal: 10,
      note: `of the iteration, median; upper quartile ${quantile(overhead, 0.75).toFixed(1)} %`,
    },
    {
      name: `of it compress to other, ${method}`,
      value: median(
        records.map(({ phases, wall: whole }) => (100 * own(phases)) / whole),
      ),
      unit: '%',
      note: 'compress, reduce, decompress and other; without data and the optimiser',
    },
    {
      name: `phases against wall time, ${method}`,
      value: median(open),
      unit: '%',
      goal: 2,
      note: 'what the sum of the phases leaves open, median',
    },
    {
      name: `memory of a worker, ${method}`,
      value: Math.max(...peaks),
      unit: 'MB',
      goal: 250,
      note: 'peak resident set, largest of 4 ranks, wasm',
    },
  ];
}

/** ms that the engine itself adds to a step. */
const own = (phases: PhaseTimes): number =>
  phases.compress + phases.reduce + phases.decompress + phases.other;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** MB, from /proc: the most that the process has had resident. */
function residentPeak(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]);
  return (kilobytes * 1024) / 1e6;
}
