/** A line for the user about a run that ended while a machine was out of reach. */
import { machineNames } from '../../shared/machines/machine-names.ts';

/**
 * One line; undefined where all records are stored.
 * @param journals those that the store misses, of all runs
 */
export function missingRecords(
  journals: readonly { readonly run: string; readonly node: string }[],
  run: string,
): string | undefined {
  const nodes = journals
    .filter((missing) => missing.run === run)
    .map(({ node }) => node);
  return nodes.length === 0
    ? undefined
    : `records from ${machineNames(nodes)} are missing (out of reach when the run ended); ` +
        `fetch them with: gradwire runs attach ${run}`;
}
