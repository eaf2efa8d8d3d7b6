/** The address where a node's ranks listen and peers on other nodes find them. */
import { isIP } from 'node:net';
import type { NodeLink } from './node-link.ts';

const LOOPBACK = '127.0.0.1';
/** All addresses of the machine: its ranks list them, and peers try each. */
const ALL = '::';

type Ends = Pick<NodeLink, 'addresses'>;

export const isHere = ({ addresses }: Ends): boolean => addresses.here === undefined;

/**
 * One address where that is enough. All of them on this computer if machines see it at different
 * ones, and on every machine if some are known by IPv4 and others by IPv6, unless the user chose
 * the machine's address.
 * @param links the nodes of the run, this one included
 */
export function listenAddress(link: Ends, links: readonly Ends[]): string {
  const away = links.filter((other) => !isHere(other));
  const [seen, ...others] = new Set(away.map(({ addresses }) => addresses.here!));
  if (links.length === 1 || seen === undefined) return LOOPBACK;
  if (isHere(link)) return others.length === 0 ? seen : ALL;
  const { chosen, there } = link.addresses;
  return chosen !== true && hasBothFamilies(away) ? ALL : there;
}

function hasBothFamilies(away: readonly Ends[]): boolean {
  const families = away.flatMap(({ addresses: { here, there } }) =>
    [here!, there].map((address) => isIP(address)),
  );
  return families.includes(4) && families.includes(6);
}
