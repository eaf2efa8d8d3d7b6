/**
 * The limit for machines that a list asks. One that does not answer, whatever step that
 * hangs at, delays neither the others nor the list.
 */
import { failure } from '../../shared/errors/errors.ts';

export const LIST_MS = 20_000;

/**
 * The answer of a machine, within the limit.
 * @param ask must give up what it does when the signal aborts, sooner or later
 * @throws GradwireError `NODE_SILENT`
 */
export async function withinList<T>(
  node: string,
  ask: (signal: AbortSignal) => Promise<T>,
  limitMs = LIST_MS,
): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      failure('NODE_SILENT', `no answer within ${limitMs / 1000} s`, {
        place: node,
        next:
          'It may be overloaded, or its login shell waits for something: try ssh to it in ' +
          'a terminal.',
      }),
    );
    controller.abort();
  }, limitMs);
  try {
    return await Promise.race([ask(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
