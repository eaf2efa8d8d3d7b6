/** The error of a supervisor that must not start: another process owns the home, or may own it. */
import { failure, type GradwireError } from '../../../shared/errors/errors.ts';
import type { HeldLock } from './home-lock.ts';

export function homeHeld(
  { file, holder, fate }: HeldLock,
  home: string,
): GradwireError {
  if (holder === undefined || fate === 'unknown') {
    return failure(
      'HOME_LOCK_DAMAGED',
      `${file} does not say which supervisor owns the runs of ${home}`,
      {
        next: `If no "gradwire supervisor" of this home runs on any machine, remove that file.`,
      },
    );
  }
  const { host, pid } = holder;
  if (fate === 'alive') {
    return failure(
      'SUPERVISOR_UNREACHABLE',
      `the supervisor of ${home} (process ${pid}) is alive, but does not listen on its socket`,
      {
        place: host,
        next:
          'It listens again within seconds, unless it is suspended: then continue it ' +
          `(kill -CONT ${pid}). Ending that process ends its runs.`,
      },
    );
  }
  const where = fate === 'hidden' ? `another container on ${host}` : host;
  return failure(
    'HOME_HELD_ELSEWHERE',
    `the runs of ${home} belong to the supervisor in process ${pid} on ${where}, which this ` +
      'process cannot reach',
    {
      place: where,
      next:
        `Use Gradwire there, or give this one a home of its own with GRADWIRE_HOME=DIRECTORY. ` +
        `If ${where} is gone for good and none of its ranks is left, remove ${file}.`,
    },
  );
}
