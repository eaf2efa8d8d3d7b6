/**
 * Runs in progress on a machine that this computer does not follow. Those that it had presumed
 * lost are corrected; it follows them again.
 */
import type { FoundRun } from '../../shared/machines/found-run.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunStore } from '../store/run-store.ts';

/**
 * Returns the runs in progress on a machine that this store does not follow. A run that is
 * stored here without that machine is left out, whatever the machine says of it.
 * @param node its name
 * @param supervised all runs that the machine's supervisor has
 * @param reopened told of each run that was presumed lost
 */
export function foundRuns(
  store: RunStore,
  node: string,
  supervised: readonly RunStatus[],
  reopened?: (run: string) => void,
): readonly FoundRun[] {
  const going = supervised.filter(({ phase }) => phase !== 'ended');
  return going.flatMap(({ run: id, spec, createdAt, ranks }) => {
    if (store.has(id)) {
      const nodes = nodesOf(store.spec(id));
      if (nodes.includes(node)) {
        if (store.presumed.reopen(id)) reopened?.(id);
      } else if (!nodes.some((was) => store.nodes.renamedTo(was) === node)) return [];
    }
    const here = whereItStands(store, id);
    if (here === undefined) return [];
    const { name, world } = spec;
    return [{ id, name, createdAt, ranks, worldRanks: world.ranks, here }];
  });
}

/** The state of a run in this store; undefined if it has not ended here: it is followed. */
function whereItStands(store: RunStore, id: string): FoundRun['here'] | undefined {
  if (!store.has(id)) return 'unknown';
  return hasEnded(store.summary(id).state) ? 'ended' : undefined;
}
