/** Errors of copied directories. */
import { failure, type GradwireError } from '../../../shared/errors/errors.ts';
import { fileNotWritable } from '../../../shared/errors/file-error.ts';
import { systemLimit } from '../../../shared/errors/system-limit.ts';

export const damaged = (what: string): Error =>
  failure('WORKDIR_FILE_DAMAGED', `${what} has not arrived as it was sent`, {
    next: 'Launch again: only what is missing is sent.',
  });

/** @param much the space that is missing, in words */
export const noSpace = (
  place: string,
  much = 'there is no space or quota left',
): GradwireError =>
  failure(
    'DISK_FULL',
    `the program’s directory cannot be copied to ${place}: ${much}`,
    {
      next: 'Free space there, leave out what the program does not need (.gitignore), or set workload.copy to false where the directory is there already.',
    },
  );

/** A refusal of the system as an error that says what to do; any other error as it is. */
export function notWritable(place: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return systemLimit(error)?.code === 'DISK_FULL'
    ? noSpace(place)
    : fileNotWritable(place, error);
}
