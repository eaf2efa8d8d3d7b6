/** The address where a node's ranks listen and peers on other nodes find them. */
import type { NodeLink } from './node-link.ts';

const LOOPBACK = '127.0.0.1';

export const isHere = ({ addresses }: Pick<NodeLink, 'addresses'>): boolean =>
  addresses.here === undefined;

/** Other machines find this computer at the address that they see. */
export function listenAddress(
  link: Pick<NodeLink, 'addresses'>,
  links: readonly Pick<NodeLink, 'addresses'>[],
): string {
  const away = links.find((other) => !isHere(other));
  if (links.length === 1 || away === undefined) return LOOPBACK;
  return isHere(link) ? away.addresses.here! : link.addresses.there;
}
