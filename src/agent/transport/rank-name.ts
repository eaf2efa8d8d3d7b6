/** A rank as messages name it. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';

/**
 * `rank 2 on box`, or `rank 2` if all ranks are on one machine.
 * @param addresses of all ranks, by rank
 */
export function rankName(
  addresses: readonly Pick<RankAddress, 'node'>[],
  rank: number,
): string {
  const node = addresses[rank]?.node;
  return node === undefined ? `rank ${rank}` : `rank ${rank} on ${machineTitle(node)}`;
}
