/**
 * Runs on another machine than the one that answers: a cluster's login nodes often share a
 * name and a home, and each has a supervisor of its own.
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
        `Name the host on which it is: gradwire nodes edit ${name} --host HOST ` +
        `(${host}, as SSH reaches it from here). Nothing is lost meanwhile.`,
    },
  );
}
