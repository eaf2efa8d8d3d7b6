/** Training by real processes, held to what must be true of every run. */
import { expect } from 'vitest';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import type { SwitchRequest } from '../../../src/shared/protocol/supervisor.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { EvaluationRecord } from '../../../src/shared/records/evaluation.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { SwitchRecord } from '../../../src/shared/records/switch.ts';
import type { SupervisorNode } from './supervisor-node.ts';

/** Parameters of the model. */
export const N = 199_210;

interface Settings {
  readonly ranks: number;
  readonly iterations: number;
  readonly exchange?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Outcome {
  readonly iterations: readonly IterationRecord[];
  readonly switches: readonly SwitchRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly done: DoneRecord;
  readonly records: readonly RunRecord[];
}

/** Notices, but for what `auto` tells of its choices. */
const troublesIn = (records: readonly RunRecord[]): readonly RunRecord[] =>
  records.filter(
    (record) =>
      record.type === 'notice' &&
      !/^(COLLECTIVE_|COMPRESSION_DOES_NOT_PAY|MOMENTUM_REPLACED)/.test(record.code),
  );

/** Trains to the end: equal replicas, no trouble, records and phases as they must be. */
export async function train(
  node: SupervisorNode,
  { ranks, ...settings }: Settings,
  schedule: readonly SwitchRequest[] = [],
): Promise<Outcome> {
  const records = await node.train({ ...settings, world: { ranks } }, schedule);
  const iterations = records.filter((record) => record.type === 'iteration');
  const switches = records.filter((record) => record.type === 'switch');
  const done = records.at(-1) as DoneRecord;
  expect(done).toMatchObject({
    type: 'done',
    iterations: settings.iterations,
    reason: 'completed',
    consistent: true,
  });
  expect(troublesIn(records)).toEqual([]);
  // One record for every rank and iteration, each once.
  const seen = new Set(iterations.map(({ rank, iteration }) => `${rank}/${iteration}`));
  expect(seen.size).toBe(ranks * settings.iterations);
  expect(iterations).toHaveLength(ranks * settings.iterations);
  // No moment is in two phases, of any iteration; few are in none that has a name.
  for (const { phases, wall, bytes } of iterations) {
    expect(sumPhases(phases)).toBeLessThanOrEqual(wall * (1 + 1e-9));
    expect(bytes.dense).toBe(4 * N);
  }
  const total = (of: (record: IterationRecord) => number): number =>
    iterations.reduce((sum, record) => sum + of(record), 0);
  expect(total(({ phases }) => phases.other)).toBeLessThan(
    total(({ wall }) => wall) / 2,
  );
  // Each switch is told by one rank for all, and made by every rank at once.
  expect(switches).toHaveLength(schedule.length);
  for (const { rank, iteration, epoch } of iterations) {
    const passed = switches.filter(({ fence }) => fence <= iteration).length;
    expect([rank, iteration, epoch]).toEqual([rank, iteration, passed]);
  }
  const evaluations = records.filter((record) => record.type === 'evaluation');
  return { records, iterations, evaluations, switches, done };
}
