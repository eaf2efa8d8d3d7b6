/**
 * Some ranks of a communicator as a separate communicator, so that an algorithm for all
 * ranks also works for some: those of a node, or one of each node. They are numbered by
 * their order in the list. Messages continue in the same exchange on the same stream:
 * between two ranks they keep their order, whichever subset they belong to. Scratch and
 * memory are the subset's own.
 */
import type { Communicator } from './collective.ts';
import { onOneNode } from './ranks-by-node.ts';

/**
 * @param members ranks of `whole`, this one among them
 * @param name of the subset within the exchange, for its scratch
 */
export function rankSubset(
  whole: Communicator,
  members: readonly number[],
  name: string,
): Communicator {
  const rank = members.indexOf(whole.rank);
  if (rank < 0) throw new Error(`internal: rank ${whole.rank} is not of the ${name}`);
  return {
    rank,
    size: members.length,
    places: onOneNode(members.length),
    arena: whole.arena,
    kernels: whole.kernels,
    operation: whole.operation,
    valueBytes: whole.valueBytes,
    reduction: whole.reduction,
    quantization: whole.quantization,
    servers: whole.servers,
    delta: whole.delta,
    worldRank: (peer) => whole.worldRank(members[peer]!),
    noise: (purpose) => whole.noise(purpose),
    send: (to, region) => whole.send(members[to]!, region),
    receive: (from, into) => whole.receive(members[from]!, into),
    receiveSized: (from, maximum, place) =>
      whole.receiveSized(members[from]!, maximum, place),
    reduce: (work) => whole.reduce(work),
    scratch: (key, bytes) => whole.scratch(`${name}: ${key}`, bytes),
    memory: (key, count) => whole.memory(`${name}: ${key}`, count),
  };
}
