/**
 * Chooses the ranks of a parameter server that hold a shard. They are workers as well, and a
 * server's shard passes its link P − 1 times each way, so servers are spread over the nodes: each
 * has one before any has a second. On one node they are ranks 0 … S − 1. A pure function of numbers
 * that all ranks know.
 */
import { inputError } from '../../shared/errors/errors.ts';
import { ranksByNode } from './ranks-by-node.ts';

/** The default: one central server. */
export const DEFAULT_SERVERS = 1;

/**
 * S ranks in ascending order: the i-th holds shard i.
 * @param places the node of each rank, by rank; equal numbers, one node
 * @throws GradwireError `SERVERS_INVALID`
 */
export function serverRanks(
  places: readonly number[],
  servers: number,
): readonly number[] {
  assertServers(servers, places.length);
  const { nodes } = ranksByNode(places);
  const turns = Math.max(...nodes.map(({ length }) => length));
  const inTurns = Array.from({ length: turns }, (_, turn) =>
    nodes.flatMap((members) => members.slice(turn, turn + 1)),
  ).flat();
  return inTurns.slice(0, servers).toSorted((a, b) => a - b);
}

/** @throws GradwireError `SERVERS_INVALID` unless `servers` is from 1 to `ranks` */
export function assertServers(servers: number, ranks: number): void {
  if (Number.isInteger(servers) && servers >= 1 && servers <= ranks) return;
  const why =
    servers <= ranks
      ? `not a whole number from 1 to ${ranks}`
      : `but only ${ranks === 1 ? '1 rank exchanges' : `${ranks} ranks exchange`}`;
  throw inputError('SERVERS_INVALID', `servers is ${servers}, ${why}`, {
    next: `Servers are ranks. Give a number from 1 to ${ranks}.`,
  });
}
