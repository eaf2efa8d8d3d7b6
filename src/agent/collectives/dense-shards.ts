/**
 * The shards of a dense vector: adjacent parts of it (`partition.ts`). A server sums its
 * part in place; the sums of other parts overwrite this rank's contributions to them. An
 * empty part needs no messages.
 */
import type { Vector } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { part } from './partition.ts';
import { vectorRegion } from './payload-region.ts';
import { contributionsAhead, type Shards } from './shards.ts';

/**
 * The shards of a vector, which is replaced by its sum over the ranks.
 * @param servers ranks, ascending
 */
export function denseShards(
  communicator: Communicator,
  vector: Vector,
  servers: readonly number[],
): Shards {
  const { operation, rank, reduction, size, valueBytes } = communicator;
  const parts = servers.map((_, shard) =>
    part(vector, servers.length, shard, valueBytes),
  );
  const own = parts[servers.indexOf(rank)] ?? { offset: 0, length: 0 };
  const region = (of: Vector) => vectorRegion(of, valueBytes);
  const slots = contributionsAhead(size, servers.length);
  const slotBytes = valueBytes * own.length;
  const scratch = (key: string, bytes: number): number =>
    bytes === 0 ? 0 : communicator.scratch(key, bytes).offset;
  const contributions = scratch('contributions', size === 1 ? 0 : slots * slotBytes);
  /**
   * x₀ ∘ … of the ranks below this one, with which the sum begins: ∘ commutes bit for
   * bit.
   */
  const lower = {
    offset: scratch('lower ranks', rank === 0 ? 0 : slotBytes),
    length: own.length,
  };
  const landing = (peer: number): Vector =>
    peer === 0
      ? lower
      : { offset: contributions + (peer % slots) * slotBytes, length: own.length };
  return {
    travels: (shard) => parts[shard]!.length > 0,
    contribution: (shard) => region(parts[shard]!),
    receive: (peer) => communicator.receive(peer, region(landing(peer))),
    add: (peer) => {
      if (peer > rank) reduction.combine(operation, own, landing(peer));
      else if (peer === rank && rank > 0) reduction.combine(operation, own, lower);
      else if (peer > 0 && peer < rank) {
        reduction.combine(operation, lower, landing(peer));
      }
    },
    sum: () => region(own),
    receiveSum: (shard) => communicator.receive(servers[shard]!, region(parts[shard]!)),
  };
}
