/** Codes, with what each means and the next step: runs. */
import { codeGroup } from './code-group.ts';

export const runsCodes = codeGroup({
  title: 'Runs',
  about: 'Finding, following, stopping and deleting runs.',
  codes: {
    NOTES_TOO_MANY: {
      means: 'The run has as many notes as a run may have.',
      next: 'Remove one: gradwire runs note RUN --remove NOTE.',
    },
    NOTE_INVALID: {
      means:
        'The text is empty, too long for a note, or has control characters, or the run has no such iteration.',
      next: 'Write another one, or give another iteration.',
    },
    NOTE_UNKNOWN: {
      means: 'The run has no note with this number.',
      next: 'List its notes: gradwire runs show RUN.',
    },
    RANK_UNKNOWN: {
      means: 'The run has no such rank.',
      next: 'Give one of the ranks in the message.',
    },
    RECORDS_MISSING: {
      means: 'Some records of the run never arrived. Those that are stored are kept.',
      next: 'Launch the run again if you need them.',
    },
    RECORDS_WAITING: {
      means: 'Records of a run exist only on that machine.',
      next: 'Fetch them with gradwire runs attach RUN, or give them up with --force.',
    },
    RECORD_INVALID: {
      means: 'A rank sent a record that is not valid.',
      next: 'Use the same version of Gradwire everywhere; if training has diverged, lower the learning rate.',
    },
    RUN_ABANDONED: {
      means: 'The app ended before the run had started.',
      next: 'Launch the run again.',
    },
    RUN_AMBIGUOUS: {
      means: 'Several run ids begin with these characters.',
      next: 'Give more characters of the id.',
    },
    RUN_BEING_STORED: {
      means: 'Records of the run are still being stored.',
      next: 'Try again in a minute.',
    },
    RUN_ENDED: {
      means: 'The run has ended, so it cannot be changed.',
      next: 'Launch it again: gradwire runs relaunch RUN.',
    },
    RUN_EXISTS: {
      means: 'The supervisor already has a run with this id.',
      next: 'Launch the run again; it gets another id.',
    },
    RUN_FILTER_INVALID: {
      means: 'A filter or an order of runs cannot be read; the place says where.',
      next: 'Correct it. Keys and forms: gradwire runs list --help.',
    },
    RUN_INCOMPLETE: {
      means: 'All ranks ended without a result.',
      next: "Read the run's log, and launch it again.",
    },
    RUN_LOST: {
      means:
        'The supervisor does not know the run any more, so its last records are lost.',
      next: 'Stored records are kept. Launch it again: gradwire runs relaunch RUN.',
    },
    RUN_NOT_BEGUN: {
      means: 'The app prepared the run but never started it.',
      next: 'Launch it again.',
    },
    RUN_NOT_DELETED: {
      means: 'Only deleted runs can be purged.',
      next: 'Delete the run first: gradwire runs delete RUN.',
    },
    RUN_NOT_ENDED: {
      means: 'The run is still in progress.',
      next: 'Stop it first: gradwire runs stop RUN.',
    },
    RUN_PURGED: {
      means: 'The run was deleted for good.',
      next: 'Its records are no longer on this computer. Use an export or a backup.',
    },
    RUN_STARTING: {
      means: 'The run has not started yet.',
      next: 'Try again in a moment.',
    },
    RUN_STATE: {
      means: 'A request came in a state of the run in which it makes no sense.',
      next: 'Try again; if it happens again, report it as a bug.',
    },
    RUN_STOPPED: {
      means: 'The run was stopped before its end.',
      next: 'If you did not stop it, launch it again.',
    },
    RUN_UNFOLLOWED: {
      means:
        "The run may go on, but it cannot be followed from here. The command's exit code is 3.",
      next: 'Follow it again: gradwire runs attach RUN.',
    },
    RUN_UNKNOWN: {
      means: 'There is no run with this id.',
      next: 'List the runs with gradwire runs list.',
    },
    STOP_TIMEOUT: {
      means:
        'After a request to stop, the ranks reported nothing for patienceSeconds and were killed.',
      next: 'Records up to then are stored. If the ranks are only slow, raise patienceSeconds.',
    },
    SUPERVISOR_LOST: {
      means: 'The supervisor died, and the run with it.',
      next: 'Everything up to the last record is stored. Launch the run again.',
    },
    SUPERVISOR_OTHER_VERSION: {
      means:
        'A supervisor of another version owns runs. They can only be watched and stopped.',
      next: 'Wait for its runs to end, or use the version in the message.',
    },
    SUPERVISOR_START_FAILED: {
      means: 'The supervisor could not start.',
      next: 'Read its log (gradwire nodes log), and check the space and type of that file system.',
    },
    SUPERVISOR_STOPPED: {
      means: 'The supervisor was asked to end.',
      next: 'Launch the run again.',
    },
    SUPERVISOR_TIMEOUT: {
      means: 'The supervisor gives no sign of life. This ends no run.',
      next: 'Check that the machine is not overloaded and the process not stopped.',
    },
    SUPERVISOR_UNREACHABLE: {
      means: 'The supervisor lives but does not listen on its socket.',
      next: 'Wait some seconds. If it is suspended, continue it: kill -CONT PID.',
    },
    SWITCH_EMPTY: {
      means: 'The switch changes nothing.',
      next: 'Give a method, a parameter or a collective, such as method=topk.',
    },
    SWITCH_INVALID: {
      means: 'The switch cannot be read, or its iteration is not 1 or more.',
      next: 'Write it as --switch 50:method=topk,ratio=0.01.',
    },
    SWITCH_TOO_LATE: {
      means: 'A switch is scheduled for after the last exchange of the run.',
      next: 'Give an earlier iteration.',
    },
    TAGS_TOO_MANY: {
      means: 'The run has as many tags as a run may have.',
      next: 'Take one away: gradwire runs tag TAG RUN --remove.',
    },
    TAG_INVALID: {
      means: 'A tag is one short word; this is none.',
      next: 'Leave out blanks, commas, quotes and asterisks.',
    },
    TITLE_INVALID: {
      means: 'The title is empty, too long, or has control characters.',
      next: 'Write another one.',
    },
    TRACE_MISSING: {
      means: 'No iteration of the run was traced.',
      next: 'Trace it while it is in progress.',
    },
    TRACE_UNSUPPORTED: {
      means: 'Iterations of runs of this kind cannot be traced yet.',
      next: 'Trace a run whose ranks compute, exchange and apply in each iteration.',
    },
  },
});
