/** Errors of files that a user named: what is wrong is the user's to fix. */
import { inputError, type GradwireError } from './errors.ts';

/** `FILE_UNREADABLE`. */
export function fileUnreadable(file: string, cause: unknown): GradwireError {
  return inputError('FILE_UNREADABLE', `cannot read it: ${reasonOf(cause)}`, {
    place: file,
    next: 'Give the path of a file that is there and that you may read.',
  });
}

/** `OUTPUT_NOT_WRITABLE`. */
export function fileNotWritable(file: string, cause: unknown): GradwireError {
  return inputError('OUTPUT_NOT_WRITABLE', `cannot write it: ${reasonOf(cause)}`, {
    place: file,
    next: 'Give a path in a directory that is there and that you may write to.',
  });
}

/** In words where the system has some: `no such file or directory`. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return /^[A-Z]+: (.*?), \w+( '.*)?$/.exec(message)?.[1] ?? message;
}
