/** Codes, with what each means and the next step: home and history. */
import { codeGroup } from './code-group.ts';

export const homeCodes = codeGroup({
  title: 'Home and history',
  about:
    'The directory in which Gradwire keeps its files, and the database of runs in it.',
  codes: {
    CHECKPOINT_INVALID: {
      means: 'A checkpoint is incomplete or damaged. It is ignored.',
      next: 'The run resumes from the previous checkpoint, or from its start.',
    },
    CHECKPOINT_UNSUPPORTED: {
      means: 'The ranks are programs, whose state Gradwire cannot write.',
      next: 'Let the program keep its own checkpoints.',
    },
    CHECKPOINT_WRITE_FAILED: {
      means: 'A checkpoint could not be written.',
      next: 'Free space on that disk, or name a home on another one with GRADWIRE_HOME.',
    },
    DATABASE_BUSY: {
      means: 'Another program holds the run history.',
      next: 'Close it, then try again.',
    },
    DATABASE_CLOSED: {
      means: 'The run history was closed while something still asked for it.',
      next: 'Start the command again. If it happens again, report it as a bug.',
    },
    DATABASE_CORRUPT: {
      means: 'The run history is damaged.',
      next: 'Move the file away to start with an empty history, or restore it from a backup.',
    },
    DATABASE_READ_ONLY: {
      means: 'The run history can be read but not written.',
      next: 'Free space on that disk, or make the file and its directory writable.',
    },
    DATABASE_TOO_NEW: {
      means: 'A newer Gradwire has written this history.',
      next: 'Update Gradwire, or set GRADWIRE_HOME to another directory.',
    },
    DATABASE_UNREADABLE: {
      means: 'The run history cannot be opened.',
      next: 'Check that you may read and write the file and its directory.',
    },
    DATABASE_WRITE_FAILED: {
      means: 'Something could not be stored in the run history.',
      next: 'Free space on that disk and check permissions. Runs in progress go on and are stored later.',
    },
    HISTORY_ROW_INVALID: {
      means: 'A row of the run history is damaged. Its run is left out of lists.',
      next: 'Delete and purge that run, or restore the file from a backup.',
    },
    HOME_GONE: {
      means: 'The home was removed while runs were in progress, which ended them.',
      next: 'Do not remove the home during runs. Launch the run again.',
    },
    HOME_HELD_ELSEWHERE: {
      means:
        'A supervisor on another host owns the runs of this home, or SSH has led to another login node than the one that has the run.',
      next: 'Use Gradwire on that host, set GRADWIRE_HOME to another directory, or name the login node: gradwire nodes edit NODE --host HOST --same-machine.',
    },
    HOME_LOCK_DAMAGED: {
      means: 'The lock file does not say who owns the runs of this home.',
      next: 'If no "gradwire supervisor" of this home runs anywhere, remove that file.',
    },
    HOME_MISSING: {
      means: "The account's home directory does not exist on that machine.",
      next: 'Log in once with ssh; otherwise the administrator must create or mount it.',
    },
    HOME_NOEXEC: {
      means: 'The home is mounted noexec: programs cannot run from it.',
      next: 'Use an account with another home, or ask the administrator to remount it.',
    },
    HOME_READ_ONLY: {
      means: 'The home on that machine cannot be written.',
      next: 'Use an account with a writable home, or have it mounted for writing.',
    },
    HOME_UNUSABLE: {
      means: 'The home cannot be locked.',
      next: 'Check that you may write there and that the disk has space.',
    },
    JOURNAL_DAMAGED: {
      means: 'The journal of a run is damaged.',
      next: 'Launch the run again. Records before the damage are kept.',
    },
    JOURNAL_WRITE_FAILED: {
      means: "The supervisor could not write a run's records, so the run ended.",
      next: 'Free space on that disk, and launch the run again.',
    },
    RUN_META_INVALID: {
      means: 'The file that describes a supervised run is damaged.',
      next: 'Use the same version of Gradwire everywhere; otherwise report it as a bug.',
    },
  },
});
