/** Says what a launch waits for while large data is read. */
import { escapeControls } from '../../shared/words/printable.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';

const READING_MS = 5000;

/**
 * Does work that may have to read a spec's data, and says so once if it takes a while.
 * @param who reads, with the verb: "the ranks read"
 */
export async function patiently<T>(
  { workload }: Pick<ExperimentSpec, 'workload'>,
  who: string,
  work: () => Promise<T>,
): Promise<T> {
  const { data } = workload;
  if (data === undefined) return await work();
  const timer = setTimeout(() => {
    process.stderr.write(
      `gradwire: the run has not begun yet; before it does, ${who} ${escapeControls(data)}\n`,
    );
  }, READING_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
