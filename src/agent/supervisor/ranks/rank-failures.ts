/** Errors about ranks that can no longer report themselves. */
import {
  failure,
  type ErrorData,
  type GradwireError,
} from '../../../shared/errors/errors.ts';
import { AGAIN } from '../../../shared/errors/report-advice.ts';
import { memoryLimit, memoryWords, refusedMemory } from '../../memory/memory-limit.ts';
import type { ProcessExit } from '../../world/rank-process.ts';

/**
 * A process ended or was killed before its rank had finished.
 * @param isHere whether it had this process's limits
 */
export function deathOf(
  rank: number,
  { code, signal, stderr }: ProcessExit,
  { isHere, node }: { readonly isHere: boolean; readonly node: string },
): ErrorData {
  const words = memoryWords(stderr);
  const limit = words !== undefined && isHere ? memoryLimit() : undefined;
  if (limit !== undefined) {
    return { ...refusedMemory(`rank ${rank}`, limit), place: node, rank };
  }
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  const tail = words ?? stderr.trim().split('\n').slice(-3).join(' | ');
  return failure(
    'WORKER_DIED',
    `the process of rank ${rank} ${how}${tail === '' ? '' : `: ${tail}`}`,
    {
      place: node,
      rank,
      next:
        signal === 'SIGKILL'
          ? 'It may have been killed by a user, or because memory ran out (see dmesg). Launch the run again.'
          : AGAIN,
    },
  ).toData();
}

/** Ranks are alive but silent, while the others gave up waiting. */
export function silenceOf(ranks: readonly number[], node: string): GradwireError {
  const who = `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`;
  return failure('RANK_SILENT', `${who} did not respond before the others gave up`, {
    place: node,
    rank: ranks[0],
    next: 'The machine may be overloaded, or the process suspended. If it is only slow, raise patienceSeconds.',
  });
}

/** Ranks listen, but their app never started the run. */
export function neverBegun(): GradwireError {
  return failure('RUN_NOT_BEGUN', 'the app prepared the run but never started it', {
    next: 'Launch it again.',
  });
}

/** A rank did not start: others start it, or it prepares for too long. */
export function notStarted(
  rank: number,
  place: string,
  afterMs: number,
): GradwireError {
  return failure(
    'RANK_NOT_STARTED',
    `rank ${rank} did not start within ${afterMs / 1000} s`,
    {
      place,
      rank,
      next: 'Check that the machine responds, that the files of workload.data can be read there, and that setup lines finish.',
    },
  );
}
