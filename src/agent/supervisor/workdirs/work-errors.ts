/** Errors of copied directories. */
import { failure } from '../../../shared/errors/errors.ts';
import { fileNotWritable } from '../../../shared/errors/file-error.ts';

export const damaged = (what: string): Error =>
  failure('WORKDIR_FILE_DAMAGED', `${what} has not arrived as it was sent`, {
    next: 'Launch again: only what is missing is sent.',
  });

/** A refusal of the system as an error that says what to do; any other error as it is. */
export const notWritable = (place: string, error: unknown): unknown =>
  error instanceof Error && 'syscall' in error ? fileNotWritable(place, error) : error;
