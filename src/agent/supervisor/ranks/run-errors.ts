/** Errors that a supervised run reports itself, because no rank can. */
import {
  failure,
  type ErrorData,
  type GradwireError,
} from '../../../shared/errors/errors.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { MOST_RESTARTS } from './restarts.ts';

export function dataNotice(message: string): RunRecord {
  return { type: 'notice', at: Date.now(), level: 'info', code: 'DATA', message };
}

export function memoryNotice(message: string): RunRecord {
  return {
    type: 'notice',
    at: Date.now(),
    level: 'warning',
    code: 'MEMORY_TIGHT',
    message,
  };
}

export function runEnded(): GradwireError {
  return failure('RUN_ENDED', 'the run ended');
}

export function stoppedEarly(): ErrorData {
  return failure('RUN_STOPPED', 'the run was stopped before it started').toData();
}

export function stoppedNow(): ErrorData {
  return failure(
    'RUN_STOPPED',
    'the run was stopped at once: its processes were ended',
    {
      next: 'Records up to then are stored.',
    },
  ).toData();
}

export function stoppedInterrupted(): ErrorData {
  return failure(
    'RUN_STOPPED',
    'the run was stopped while it waited to resume after an interruption',
    {
      next: 'Records up to then are stored.',
    },
  ).toData();
}

/** The end of a run whose ranks had been told that their nodes are taken back. */
export function stoppedWithNodes(): ErrorData {
  return failure(
    'RUN_STOPPED',
    'the run was stopped while its ranks were ending, because their nodes are taken back',
    {
      next: 'Records up to then are stored.',
    },
  ).toData();
}

/** The last failure of a run that has no restarts left. */
export function restartsExhausted(error: ErrorData): ErrorData {
  const message = `${error.message} (after ${MOST_RESTARTS} restarts without a new checkpoint)`;
  return { ...error, message };
}

export function supervisorStopped(): ErrorData {
  return failure(
    'SUPERVISOR_STOPPED',
    'the supervisor was asked to shut down',
  ).toData();
}

/** The supervisor's home is gone, and with it the way to find this run again. */
export function homeGone(home: string): ErrorData {
  return failure(
    'HOME_GONE',
    `${home}, where the supervisor keeps its runs, was removed`,
    {
      next: 'Do not remove the home while runs are in progress. Launch the run again.',
    },
  ).toData();
}
