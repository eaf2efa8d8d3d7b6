/** The sbatch request for a run. */
import type { SlurmSettings } from '../../shared/slurm-settings.ts';
import type { NodeShare } from '../../shared/slurm-share.ts';

/** Options of sbatch. */
export function jobOptions(
  run: string,
  { nodes, cpusPerNode }: NodeShare,
  settings: SlurmSettings,
): readonly string[] {
  const { partition, account, time, gpusPerNode, options } = settings;
  const given = (
    name: string,
    value: string | number | undefined,
  ): readonly string[] => (value === undefined ? [] : [`--${name}=${value}`]);
  return [
    ...[
      `--job-name=gradwire ${run}`,
      '--no-requeue',
      '--output=/dev/null',
      '--chdir=/',
    ],
    ...[`--nodes=${nodes}`, '--ntasks-per-node=1', `--cpus-per-task=${cpusPerNode}`],
    ...given('partition', partition),
    ...given('account', account),
    ...given('time', time),
    ...given('gpus-per-node', gpusPerNode),
    ...options,
  ];
}
