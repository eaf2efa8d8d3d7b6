/** How many compute nodes a run gets, and what is asked for them. */
import { inputError } from '../../shared/errors.ts';
import type { SlurmSettings } from '../../shared/slurm-settings.ts';

export interface NodeShare {
  readonly nodes: number;
  readonly cpusPerNode: number;
}

/** @throws GradwireError `SLURM_TOO_SMALL` */
export function nodeShare(ranks: number, settings: SlurmSettings): NodeShare {
  const { ranksPerNode = ranks } = settings;
  const needed = Math.ceil(ranks / ranksPerNode);
  const nodes = Math.min(settings.nodes ?? needed, ranks);
  if (nodes < needed) {
    throw inputError(
      'SLURM_TOO_SMALL',
      `${ranks} ranks at ${ranksPerNode} per node need ${needed} nodes, not ${nodes}`,
      {
        place: 'world.ranks',
        next: 'Lower world.ranks, or add the machine anew with other --nodes or --ranks-per-node.',
      },
    );
  }
  return { nodes, cpusPerNode: settings.cpusPerNode ?? Math.ceil(ranks / nodes) };
}

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
