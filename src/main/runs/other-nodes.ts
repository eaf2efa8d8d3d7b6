/**
 * Relays news between the nodes of a run. Every rank must know of a switch before it takes
 * effect: the leading node plans it, the others adopt it, at once or when they reconnect.
 * And when one node has failed, ranks on the others must stop waiting.
 */
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import type { NodeLink } from '../cluster/node-link.ts';

/**
 * Relays a switch to nodes; `relayMissed` reaches those that miss it now.
 * @returns the nodes that were not reached, and why
 */
export async function relaySwitch(
  links: readonly NodeLink[],
  run: string,
  planned: PlanSwitch,
): Promise<ReadonlyMap<NodeLink, GradwireError>> {
  const body = { run, switches: [planned] };
  const missed = new Map<NodeLink, GradwireError>();
  await Promise.all(
    links.map(async (link) => {
      try {
        await link.request('adopt', body);
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
        missed.set(link, error);
      }
    }),
  );
  return missed;
}

/** Tells every connected node all switches that any of them knows. */
export async function relayMissed(
  links: readonly NodeLink[],
  run: string,
): Promise<void> {
  const connected = links.filter(({ connection }) => connection !== undefined);
  if (connected.length < 2) return;
  const replies = await Promise.all(connected.map((link) => link.request('runs', {})));
  const known = new Map<number, PlanSwitch>();
  for (const each of replies.flatMap(({ runs }) => runs)) {
    if (each.run !== run) continue;
    for (const planned of each.switches ?? []) known.set(planned.epoch, planned);
  }
  if (known.size === 0) return;
  const body = { run, switches: [...known.values()] };
  await Promise.all(connected.map((link) => link.request('adopt', body)));
}

/**
 * Ends a run's ranks on connected nodes because of a failure on another. Nothing waits for the
 * answers: ranks that are not told notice within the run's timeout that their peers are gone.
 */
export function abortRanks(
  links: readonly NodeLink[],
  run: string,
  error: ErrorData,
): void {
  for (const { connection } of links) {
    connection?.request('abort', { run, error }).catch((failed: unknown) => {
      // It has ended there meanwhile, or the connection is lost.
      if (!(failed instanceof GradwireError)) throw failed;
    });
  }
}
