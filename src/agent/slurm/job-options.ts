/** The sbatch request for a run. */
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import type { NodeShare } from '../../shared/spec/slurm-share.ts';
import type { JobMark } from './slurm-job.ts';

/** Options of sbatch. */
export function jobOptions(
  { name, comment }: JobMark,
  { nodes, cpusPerNode }: NodeShare,
  settings: SlurmSettings,
): readonly string[] {
  const { partition, account, time, gpusPerNode, options } = settings;
  const given = (
    name: string,
    value: string | number | undefined,
  ): readonly string[] => (value === undefined ? [] : [`--${name}=${value}`]);
  return [
    `--job-name=${name}`,
    '--no-requeue',
    '--output=/dev/null',
    '--chdir=/',
    `--nodes=${nodes}`,
    '--ntasks-per-node=1',
    `--cpus-per-task=${cpusPerNode}`,
    ...given('partition', partition),
    ...given('account', account),
    ...given('time', time),
    ...given('gpus-per-node', gpusPerNode),
    ...options,
    // A user's own name and comment are part of these.
    ...(comment === undefined ? [] : [`--job-name=${name}`, `--comment=${comment}`]),
  ];
}
