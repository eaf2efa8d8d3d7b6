/**
 * Failures after which a run may go on from a checkpoint: something that it needs was lost,
 * a process, a machine, a link. What the run itself does wrong it would do again.
 */
const LOSSES: ReadonlySet<string> = new Set([
  'WORKER_DIED',
  'PEER_LOST',
  'PEER_SILENT',
  'PEER_TIMEOUT',
  'PEER_UNREACHABLE',
  'RANK_SILENT',
  'ABORTED',
  'GPU_LOST',
  'SUPERVISOR_LOST',
  'SUPERVISOR_STOPPED',
  // Slurm takes the nodes back, or has taken them: others will do.
  'ALLOCATION_ENDING',
  'JOB_LOST',
  'SLURM_SILENT',
  'RANK_NOT_STARTED',
  // Of a restart that did not come about.
  'CHECKPOINT_INVALID',
  'RUN_NOT_BEGUN',
  'RUN_ABANDONED',
]);

export const isRestartable = ({ code }: { readonly code: string }): boolean =>
  LOSSES.has(code);
