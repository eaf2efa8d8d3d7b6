/**
 * Runs that the answering supervisor does not know. They are lost, or on another machine than the one
 * that answers: login nodes of a cluster often share a name and a home, and each has its own supervisor.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { NodeLink } from '../cluster/node-link.ts';

/** @param found a run, and the host that has it */
export function heldElsewhere(
  { name, connection }: NodeLink,
  [run, host]: readonly [string, string],
): GradwireError {
  const here = connection?.hello.host ?? 'another host';
  return failure(
    'HOME_HELD_ELSEWHERE',
    `run ${run} is on ${host}, but SSH has led to ${here}, which has the same home`,
    {
      place: name,
      next:
        `Name the host on which it is: gradwire nodes edit ${name} --host HOST --same-machine ` +
        `(HOST: ${host}, as SSH reaches it from here). Nothing is lost meanwhile. ` +
        `If ${host} is gone for good, remove ~/.gradwire/nodes/${host}/runs/${run} there.`,
    },
  );
}

/** A run that no supervisor knows. */
export const runLost = (id: string): GradwireError =>
  failure(
    'RUN_LOST',
    `the supervisor does not know run ${id}: the run ended, and its last records are lost`,
    {
      next: `Stored records are kept. Launch it again: gradwire runs relaunch ${id}.`,
    },
  );

/** @throws GradwireError `HOME_HELD_ELSEWHERE`: another host than one of these has the run */
export async function assertNotElsewhere(
  links: readonly NodeLink[],
  run: string,
): Promise<void> {
  for (const link of links) {
    const [found] = await link.elsewhere([run]);
    if (found !== undefined) throw heldElsewhere(link, found);
  }
}
