/**
 * Two entries of the inventory that lead to one machine, by another name, address or jump
 * host. Its supervisor says so itself: both links are connected to the same one.
 */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { NodeLink } from './node-link.ts';

type Connected = Pick<NodeLink, 'name' | 'connection'>;

/**
 * The error for the first two of these links that lead to the same machine; undefined if
 * there are none. Supervisors of older versions do not tell.
 * @param next what to do about it
 */
export function sameMachine(
  links: readonly Connected[],
  next: (first: string, second: string) => string,
): GradwireError | undefined {
  const seen = new Map<string, string>();
  for (const { name, connection } of links) {
    const hello = connection?.hello;
    if (hello?.instance === undefined) continue;
    const first = seen.get(hello.instance);
    if (first !== undefined) {
      return inputError(
        'NODES_SAME',
        `${first} and ${name} are the same machine: ${hello.host}, with one supervisor ` +
          `(process ${hello.pid})`,
        { place: name, next: next(first, name) },
      );
    }
    seen.set(hello.instance, name);
  }
  return undefined;
}
