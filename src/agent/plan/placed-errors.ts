/** Errors about a plan, with the place where the fault was written. */
import { GradwireError } from '../../shared/errors/errors.ts';

/**
 * Does work, and adds the place to its errors.
 * @param where returns the place, given the one that the error already names
 */
export function placed<T>(
  where: (known: string | undefined) => string,
  work: () => T,
): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    throw new GradwireError({ ...error.toData(), place: where(error.place) });
  }
}
