/** Errors about files that a user named. */
import { inputError, type GradwireError } from './errors.ts';
import { systemLimit } from './system-limit.ts';
import { writeAdvice } from './write-advice.ts';

/** `FILE_UNREADABLE`. */
export function fileUnreadable(file: string, cause: unknown): GradwireError {
  return inputError('FILE_UNREADABLE', `cannot read the file: ${reasonOf(cause)}`, {
    place: file,
    next: 'Give the path of a file that exists and that you may read.',
  });
}

/** `OUTPUT_NOT_WRITABLE`. */
export function fileNotWritable(file: string, cause: unknown): GradwireError {
  return inputError(
    'OUTPUT_NOT_WRITABLE',
    `cannot write the file: ${reasonOf(cause)}`,
    {
      place: file,
      next: isFull(cause)
        ? 'Free space on that disk, or give a path on another one.'
        : writeAdvice(
            cause,
            'Give a path in a directory that exists and that you may write to.',
          ),
    },
  );
}

const isFull = (cause: unknown): boolean => systemLimit(cause)?.code === 'DISK_FULL';

/** The system's message if it has one: `no such file or directory`. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return /^[A-Z]+: (.*?), \w+( '.*)?$/.exec(message)?.[1] ?? message;
}
