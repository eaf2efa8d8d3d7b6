/** Runs on a machine that are not followed here, in lines. */
import { describeFound, type FoundRun } from '../../shared/machines/found-run.ts';

/** Lines for the runs, one each, with the command that stops the run. */
export function foundLines(
  node: string,
  found: readonly FoundRun[],
): readonly string[] {
  return found.map(
    (run) =>
      `${node} also runs ${run.id} (${run.name}): ${describeFound(run, Date.now())}; ` +
      `stop it with: gradwire runs stop ${run.id} --on ${node}`,
  );
}
