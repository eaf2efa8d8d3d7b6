/** Locates an error that ends a rank: the rank that it blames, if one is to blame, and the machine. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';

/** A place that says no more than the error's rank does. */
const ONLY_RANK = /^rank \d+$/;

/**
 * @param own the rank that reports it, to blame unless the error names another
 * @param addresses of all ranks, by rank; they name machines in a run over several
 */
export function locatedError(
  error: ErrorData,
  own: number,
  addresses: readonly Pick<RankAddress, 'node'>[] = [],
): ErrorData {
  if (error.code === 'LAUNCHER_FAILED') {
    const place = error.place ?? titleOf(addresses[own]);
    return place === undefined ? error : { ...error, place };
  }
  const { rank = own } = error;
  const node = titleOf(addresses[rank]);
  const place = error.place ?? `rank ${rank}`;
  if (node === undefined) return { ...error, rank, place };
  if (ONLY_RANK.test(place)) return { ...error, rank, place: node };
  const isNamed = place.split(', ').includes(node);
  return { ...error, rank, place: isNamed ? place : `${node}, ${place}` };
}

const titleOf = (address: Pick<RankAddress, 'node'> | undefined): string | undefined =>
  address?.node === undefined ? undefined : machineTitle(address.node);
