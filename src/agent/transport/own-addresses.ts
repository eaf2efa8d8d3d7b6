/** Addresses of this machine's interfaces at which another machine may reach it. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLinkLocal } from '../../shared/machines/link-local.ts';

/**
 * Lists this machine's addresses, except loopback and link-local ones, whose zone means nothing on
 * other machines.
 */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !isLinkLocal(address))
    .map(({ address }) => address);
}

/**
 * The addresses in the order in which they are to be tried: the families take turns, so
 * that one that does not work delays the other by only one attempt (RFC 8305, section 4).
 * Each family keeps its order.
 * @param tried the address before them, whose family comes second; default: IPv6 begins
 */
export function takingTurns(
  addresses: readonly string[],
  tried?: string,
): readonly string[] {
  const six = addresses.filter((address) => isIP(address) === 6);
  const four = addresses.filter((address) => isIP(address) !== 6);
  const [first, second] = isIP(tried ?? '') === 6 ? [four, six] : [six, four];
  return Array.from({ length: Math.max(six.length, four.length) }, (_, turn) => [
    ...first.slice(turn, turn + 1),
    ...second.slice(turn, turn + 1),
  ]).flat();
}
