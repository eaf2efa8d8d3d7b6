/** Advice about a file that cannot be written, by the system's reason. */
import { systemLimit } from './system-limit.ts';

/** @param otherwise the advice for a full disk, and for what is not known */
export function writeAdvice(cause: unknown, otherwise: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'Check the owner and the permissions of that place and of the directories above it: you may not write there.';
    case 'EROFS':
      return 'That file system is mounted read-only: have it mounted for writing, or use a directory on another one.';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'Its directory is gone, or cannot be made there: restore it, or use another one.';
    case 'EISDIR':
      return 'That is a directory: give the path of a file in it.';
    case 'EFBIG':
      return systemLimit(cause)!.next!;
    default:
      return otherwise;
  }
}
