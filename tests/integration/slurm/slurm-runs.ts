/** What tests of runs on nodes that Slurm allots have in common. */
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../../src/shared/spec/experiment-spec.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import {
  slurmSettingsSchema,
  type SlurmSettings,
} from '../../../src/shared/machines/slurm-settings.ts';
import { until } from '../../harness/processes.ts';
import { ofType, type OfType } from '../../harness/records.ts';
import type { SlurmCluster } from '../../harness/slurm.ts';

/** Two ranks, 30 iterations, and what is given. */
export const slurmSpec = (more: Record<string, unknown> = {}): ExperimentSpec =>
  parseExperimentSpec({
    workload: { model: 'fnn3', dataset: 'digits' },
    world: { ranks: 2 },
    iterations: 30,
    evaluateEvery: 0,
    backend: 'wasm',
    ...more,
  });

/** Two nodes, and what is given. */
export const slurmSettings = (more: Record<string, unknown> = {}): SlurmSettings =>
  slurmSettingsSchema.parse({ nodes: 2, ...more });

export const recordsOf = <T extends RunRecord['type']>(
  entries: readonly JournalEntry[],
  type: T,
): readonly OfType<T>[] =>
  ofType(
    entries.map(({ record }) => record),
    type,
  );

/** The first record of its type, once there is one. */
export async function firstRecord<T extends RunRecord['type']>(
  entries: readonly JournalEntry[],
  type: T,
): Promise<OfType<T>> {
  const found = await until(
    () => recordsOf(entries, type)[0],
    (record) => record !== undefined,
    `a record "${type}"`,
  );
  return found!;
}

export const noJobs = (slurm: SlurmCluster): Promise<unknown> =>
  until(
    () => [...slurm.jobs()],
    (left) => left.length === 0,
    'the jobs to end',
  );
