/** Errors about ranks that can no longer report themselves. */
import { failure, type GradwireError } from '../../../shared/errors/errors.ts';

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
  seconds: number,
): GradwireError {
  return failure('RANK_NOT_STARTED', `rank ${rank} did not start within ${seconds} s`, {
    place,
    rank,
    next: 'Check that the machine responds, that the files of workload.data can be read there, and that setup lines finish.',
  });
}
