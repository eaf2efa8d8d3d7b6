/** Machines that a command is given by name: what they have together. */
import { availableParallelism } from 'node:os';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { Workspace } from './workspace.ts';

/**
 * Processors of all of them; undefined where one does not say, or where a scheduler gives
 * them out.
 * @throws GradwireError `NODE_UNKNOWN`; what kept a machine from being reached
 */
export async function processorsOf(
  { store, inventory }: Pick<Workspace, 'inventory' | 'store'>,
  names: readonly string[],
): Promise<number | undefined> {
  // All names, before the first machine is asked.
  const entries = names.map((name) =>
    name === LOCAL_NODE ? undefined : store.nodes.named(name),
  );
  let sum: number | undefined = 0;
  for (const entry of entries) {
    const cores: number | undefined =
      entry === undefined
        ? availableParallelism()
        : entry.slurm === undefined
          ? (await inventory.remote(entry).check()).cores
          : undefined;
    sum = sum === undefined || cores === undefined ? undefined : sum + cores;
  }
  return sum;
}
