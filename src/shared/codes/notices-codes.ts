/** Codes, with what each means and the next step: notices of a run. */
import { codeGroup } from './code-group.ts';

export const noticesCodes = codeGroup({
  title: 'Notices of a run',
  about: "These end nothing. They are in a run's events and log.",
  codes: {
    ACTIVATION_RESIDUAL_DROPPED: {
      means: 'The switch dropped the residual of gradients of activations.',
      next: 'Nothing to do.',
    },
    COLLECTIVE_ADVICE: {
      means:
        'By measured times another collective would be faster; auto keeps its choice so that runs can be repeated.',
      next: 'Name that collective, or use collective: adaptive.',
    },
    COLLECTIVE_CHANGED: {
      means: 'auto moved a bucket to another collective.',
      next: 'Nothing to do.',
    },
    COLLECTIVE_CHOSEN: {
      means: 'The collective that auto chose, its predicted time, and why.',
      next: 'Nothing to do.',
    },
    COMPARISON_SKIPPED: {
      means: 'The applied gradient was not compared with the uncompressed one.',
      next: 'Follow the message if you need the comparison.',
    },
    COMPRESSION_DOES_NOT_PAY: {
      means: 'Compression takes longer than it saves on this network.',
      next: 'Do not compress here, or choose a cheaper method.',
    },
    DATA: {
      means:
        'Something about the data that is worth knowing, such as how they were split.',
      next: 'Nothing to do.',
    },
    DELTA_CHOSEN: {
      means: 'The δ that auto chose, at which sparse streams turn dense.',
      next: 'Nothing to do.',
    },
    DRAIN_IDLE: {
      means: 'parallelism.drainEvery has no effect with this method.',
      next: 'Remove it.',
    },
    EVALUATION_NOT_FINITE: {
      means:
        'A value on the test set is NaN or infinite, and is left out of its record.',
      next: 'Lower the learning rate if training diverges.',
    },
    GRADIENTS_READ_BACK: {
      means: 'Gradients are read back from the GPU and compressed on the CPU.',
      next: 'Nothing to do, or change the setting in the message.',
    },
    GRADIENTS_STALE: {
      means: 'doubleBuffer applies each gradient one iteration late.',
      next: 'Nothing to do; lower the learning rate if training suffers.',
    },
    GUARD_NOT_OBEYED: {
      means:
        'The guard of a switch wanted to go back, but the run could not be switched.',
      next: 'Switch back yourself, if the run goes on.',
    },
    GUARD_SWITCHES_BACK: {
      means:
        'After a switch, a limit of its guard was exceeded, so the run switches back.',
      next: 'Nothing to do. Read the reason before you try the same switch again.',
    },
    LEDGER_UNBALANCED: {
      means:
        'The bytes counted at the sockets are not those handed to them. It is a bug.',
      next: "Report it with the run's log.",
    },
    LOGGED_UNKNOWN: {
      means: 'A program logs a number under a name that is not shown.',
      next: 'Call gw.log(loss=…, accuracy=…), or keep other numbers in the program.',
    },
    LOSS_PRINTED: {
      means: 'The loss of an observed program is read from a line that it prints.',
      next: 'Nothing to do, if it is the loss of training; else call gradwire.log(loss=…).',
    },
    MEASURE_NOT_FINITE: {
      means: 'A measured value is NaN or infinite, and is left out of its record.',
      next: 'Nothing to do, if training goes on well.',
    },
    METHOD_STATE_DROPPED: {
      means: 'A method begins without the state that a program has loaded.',
      next: 'Load on every rank what that rank has saved, or on all ranks the same, for the same method.',
    },
    MEMORY_TIGHT: {
      means: 'The run may need more memory than the machine has free.',
      next: 'Use fewer ranks or a smaller batch if it fails.',
    },
    METHOD_NOT_ON_GPU: {
      means: 'The GPU cannot run the method with these parameters; the CPU compresses.',
      next: 'Nothing to do.',
    },
    MOMENTUM_REPLACED: {
      means: "The method applies momentum itself, so the optimiser's does not apply.",
      next: 'Nothing to do.',
    },
    NODE_UNWATCHED: {
      means:
        'What a node that Slurm allocates does beside the step is no longer recorded.',
      next: 'The run goes on. The message says why; the next start of ranks tries again.',
    },
    OVERLAP_IDLE: {
      means: 'Nothing can overlap with these settings.',
      next: 'Lower exchange.bucketBytes, or turn overlap off.',
    },
    PEER_ADDRESS: {
      means: "Ranks are reached at another address than the machine's.",
      next: 'Nothing to do.',
    },
    PEER_TUNNELLED: {
      means:
        'Ranks are reached through an SSH tunnel, which is slow and ends with the app.',
      next: 'Open ports between the machines, or set another address.',
    },
    PROGRAM_AWAITED: {
      means: 'The ranks wait for a program that you start yourself.',
      next: 'Start it, as the message says.',
    },
    PROGRAM_CRASHED_LATE: {
      means:
        'All of a program had run, and then its interpreter crashed, as PyTorch may do when threads of its libraries outlive it.',
      next: 'Nothing to do. Files that the program itself has closed are complete.',
    },
    RANKS_CONTINUED: {
      means: 'Ranks that were suspended go on.',
      next: 'Nothing to do.',
    },
    RANKS_HEARD: { means: 'All ranks report again.', next: 'Nothing to do.' },
    RANKS_SILENT: {
      means: 'Ranks have reported nothing for longer than ever before.',
      next: 'Their processes may be suspended, or the machine overloaded. A stop ends the run all the same.',
    },
    RANKS_SUSPENDED: {
      means: 'Processes of ranks are suspended.',
      next: 'Continue them with kill -CONT, as the message says.',
    },
    RECORD_UNKNOWN: {
      means: 'A record of a kind that this version does not know.',
      next: 'Update Gradwire to see it.',
    },
    TRACED: {
      means: 'Iterations were traced, as ordered.',
      next: 'Look at their timeline in the app, or write it with gradwire runs trace.',
    },
    TRANSPORT_FALLBACK: {
      means: 'The native transport does not work here; tcp is used.',
      next: 'Nothing to do, or follow the reason in the message.',
    },
  },
});
