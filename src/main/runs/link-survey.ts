/** Measures the links between machines and stores results of links that were free. */
import type { PairOutcome } from '../../shared/machines/link-status.ts';
import { checkLinks, type LinkCheckOptions } from '../cluster/link-check.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { LinkTable } from '../store/link-table.ts';

/** The outcome of each pair, as it arrives; measurements beside a run are not stored. */
export async function* surveyLinks(
  table: LinkTable,
  nodes: readonly NodeLink[],
  options: LinkCheckOptions = {},
): AsyncGenerator<PairOutcome> {
  // The machines' identities when they were connected.
  const identities = new Map(nodes.map(({ name, identity }) => [name, identity]));
  for await (const outcome of checkLinks(nodes, options)) {
    if (outcome.runs.length === 0) {
      for (const link of outcome.links) {
        table.put(link, identities.get(link.from)!, identities.get(link.to)!);
      }
    }
    yield outcome;
  }
}
