/** Codes, with what each means and the next step: Slurm. */
import { codeGroup } from './code-group.ts';

export const slurmCodes = codeGroup({
  title: 'Slurm',
  about: 'Nodes allocated by a Slurm cluster.',
  codes: {
    AGENT_NOT_SHARED: {
      means: 'A compute node does not see the agent.',
      next: "The login node's home must also be on the compute nodes, under the same path.",
    },
    ALLOCATION_ENDING: {
      means: 'The Slurm job reaches its time limit before the end of the run.',
      next: 'Request more time (--time), or set onFailure: restart.',
    },
    COMPUTE_NODE_UNKNOWN: {
      means: 'The login node cannot resolve the name of a compute node.',
      next: "Ask the cluster's administrators.",
    },
    JOB_ENDED: { means: 'The Slurm job was cancelled.', next: 'Launch the run again.' },
    JOB_LOST: {
      means: 'The Slurm job has ended unexpectedly.',
      next: 'Ask Slurm why (sacct); onFailure: restart submits another job.',
    },
    SLURM_MISSING: {
      means: "The machine does not have Slurm's commands.",
      next: 'Check that it is a login node; otherwise gradwire nodes edit NAME --unset slurm.',
    },
    SLURM_NOT_ALONE: {
      means: 'A Slurm cluster cannot share a run with other machines.',
      next: 'Name only the cluster, or remove it.',
    },
    SLURM_OPTION_REFUSED: {
      means: 'An option of sbatch is one that Gradwire sets itself.',
      next: 'Give the other options again without it.',
    },
    SLURM_PARTITION_UNKNOWN: {
      means: 'Slurm has no partition of the name in the machine’s settings.',
      next: 'Name one that sinfo --all lists: gradwire nodes edit NAME --partition PARTITION.',
    },
    SLURM_REFUSED: {
      means: 'Slurm rejected the job.',
      next: "Correct the machine's settings, or ask the administrators.",
    },
    SLURM_SILENT: {
      means: 'Slurm does not respond.',
      next: 'Try again when sinfo works on the login node.',
    },
    SLURM_TOO_SMALL: {
      means: 'The allocation has too few nodes for the ranks.',
      next: 'Lower world.ranks, or change --nodes or --ranks-per-node.',
    },
  },
});
