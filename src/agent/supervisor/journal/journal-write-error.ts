/**
 * The error of a run's files that cannot be written on this machine, with its cause and next step.
 */
import { failure, type GradwireError } from '../../../shared/errors/errors.ts';
import { writeAdvice } from '../../../shared/errors/write-advice.ts';
import { systemLimit } from '../../../shared/errors/system-limit.ts';

/**
 * @param place the file or folder
 * @param node the machine's name, if the supervisor was deployed to it; default: it is the
 * user's own computer
 */
export function journalWriteFailed(
  place: string,
  cause: unknown,
  node: string | undefined,
): GradwireError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = 'JOURNAL_WRITE_FAILED';
  const limit = systemLimit(cause);
  if (limit !== undefined && limit.code !== 'DISK_FULL') {
    return failure(code, `cannot write ${place}: ${reason}`, {
      place: node,
      next: limit.next,
    });
  }
  if (node === undefined) {
    return failure(code, `cannot write ${place}: ${reason}`, {
      next: writeAdvice(
        cause,
        'Free space on that disk; on this computer, GRADWIRE_HOME may name a directory on another one.',
      ),
    });
  }
  return failure(code, `cannot write ${place} on ${node}: ${reason}`, {
    place: node,
    next: writeAdvice(
      cause,
      'Free space or inodes on the disk of your home directory there, or have your quota raised.',
    ),
  });
}
