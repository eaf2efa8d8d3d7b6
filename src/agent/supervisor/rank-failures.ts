/** What is said of ranks that cannot speak for themselves any more. */
import { failure, type ErrorData, type GradwireError } from '../../shared/errors.ts';
import type { ProcessExit } from '../world/rank-process.ts';

/** Of a process that ended by itself, or was killed, before its rank had finished. */
export function deathOf(
  rank: number,
  { code, signal, stderr }: ProcessExit,
  node: string,
): ErrorData {
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  const tail = stderr.trim().split('\n').slice(-3).join(' | ');
  return failure(
    'WORKER_DIED',
    `the process of rank ${rank} ${how}${tail === '' ? '' : `: ${tail}`}`,
    {
      place: node,
      rank,
      next:
        signal === 'SIGKILL'
          ? 'Was it killed by hand, or for lack of memory (dmesg)? Launch the run again.'
          : 'Launch the run again; if it happens again, report it.',
    },
  ).toData();
}

/** Of ranks that live and said nothing, while the others gave up waiting. */
export function silenceOf(ranks: readonly number[], node: string): GradwireError {
  const who = `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`;
  return failure('RANK_SILENT', `${who} did not answer until the others gave up`, {
    place: node,
    rank: ranks[0],
    next: 'Is that machine overloaded, or its process stopped? If it is only slow, raise patienceSeconds.',
  });
}

/** Of ranks that listen, and whose app has gone on to something else. */
export function neverBegun(): GradwireError {
  return failure('RUN_NOT_BEGUN', 'the run was prepared but never begun', {
    next: 'Launch it again.',
  });
}

/** Of a rank that was to be started on another machine. */
export function notStarted(
  rank: number,
  place: string,
  afterMs: number,
): GradwireError {
  return failure(
    'RANK_NOT_STARTED',
    `rank ${rank} has not started within ${afterMs / 1000} s`,
    {
      ...{ place, rank },
      next: 'Do its setup lines end, and does the machine answer?',
    },
  );
}
