/** How a function refuses its input, for tests that need no process to see it. */
import { formatError, toErrorData } from '../../src/shared/errors/errors.ts';

/** What the command would print behind its name, and whether it would exit with 2. */
export function refusalOf(work: () => unknown): { text: string; input: boolean } {
  try {
    work();
  } catch (error) {
    const data = toErrorData(error);
    return { text: formatError(data), input: data.kind === 'input' };
  }
  throw new Error('it was not refused');
}
