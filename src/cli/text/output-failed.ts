/** Stdout that cannot be written: a full disk, a device that has gone. */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';

/** `OUTPUT_FAILED`. */
export const outputFailed = (cause: Error): GradwireError =>
  failure('OUTPUT_FAILED', `cannot write the output: ${cause.message}`, {
    next: 'Check that the disk for the output is not full.',
  });
