/** Asks the machines of runs in progress whose stored rows are damaged what they know of them. */
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { withinList } from '../cluster/list-patience.ts';
import type { NodeSet } from '../cluster/node-set.ts';
import type { DamagedRuns } from '../store/damaged-runs.ts';
import { assertNotElsewhere } from './runs-elsewhere.ts';

/**
 * Writes the rows of damaged runs anew, or ends those that none of their machines has. Runs of
 * machines that do not answer stay as they are.
 * @param only this run; default: all
 * @returns the error of a machine that did not answer, if any
 */
export async function mendDamaged(
  rows: DamagedRuns,
  nodes: NodeSet,
  only?: string,
): Promise<GradwireError | undefined> {
  let trouble: GradwireError | undefined;
  for (const id of rows.unended()) {
    if (only !== undefined && id !== only) continue;
    try {
      await mendRun(id, rows, nodes);
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      trouble = error;
    }
  }
  return trouble;
}

/** @throws GradwireError of a machine that does not answer */
async function mendRun(id: string, rows: DamagedRuns, nodes: NodeSet): Promise<void> {
  for (const name of rows.nodesOf(id)) {
    if (!nodes.has(name)) continue;
    const link = nodes.named(name);
    const connect = (signal?: AbortSignal) =>
      link.connect({ interactive: false, signal });
    await (link === nodes.lead ? connect() : withinList(name, connect));
    const { runs } = await link.request('runs', {});
    const known = runs.find(({ run }) => run === id);
    if (known === undefined) {
      await assertNotElsewhere([link], id);
      continue;
    }
    rows.mend(id, known.spec);
    return;
  }
  const lost = failure(
    'RUN_LOST',
    `the row of run ${id} is damaged, and no machine has it`,
    {
      next: `Delete it: gradwire runs delete ${id}, then gradwire runs purge ${id}.`,
    },
  );
  rows.fail(id, lost.toData(), Date.now());
}
