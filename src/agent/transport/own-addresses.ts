/** Addresses of this machine's interfaces at which another one may find it. */
import { networkInterfaces } from 'node:os';

/** Without loopback and what holds on one link alone; IPv4 first. */
export function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap(
    (addresses) => addresses ?? [],
  );
  return all
    .filter(
      ({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address),
    )
    .toSorted((a, b) => a.family.localeCompare(b.family))
    .map(({ address }) => address);
}
