/**
 * Failures after which a run may resume from a checkpoint: the loss of a process, a machine or
 * a link. Errors of the run itself would occur again.
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
  'TORCH_LOST',
  'SUPERVISOR_LOST',
  'SUPERVISOR_STOPPED',
  // Slurm is reclaiming the nodes, or has: the run can use others.
  'ALLOCATION_ENDING',
  'JOB_LOST',
  'SLURM_SILENT',
  'RANK_NOT_STARTED',
  // A restart that failed.
  'CHECKPOINT_INVALID',
  'RUN_NOT_BEGUN',
  'RUN_ABANDONED',
]);

export const isRestartable = ({ code }: { readonly code: string }): boolean =>
  LOSSES.has(code);
