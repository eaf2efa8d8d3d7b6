/**
 * Some ranks of a transport as a separate one, numbered by their order: those that
 * exchange gradients if a model is split into stages. Errors and measures name ranks of
 * the whole world.
 */
import type { Transport } from './transport.ts';

/**
 * @param members ranks of `whole`, this one among them. Aborting and closing affect the
 * whole.
 */
export function transportSubset(
  whole: Transport,
  members: readonly number[],
): Transport {
  const rank = members.indexOf(whole.rank);
  if (rank < 0) throw new Error(`internal: rank ${whole.rank} is not of the subset`);
  return {
    rank,
    size: members.length,
    send: (to, header, data) => whole.send(members[to]!, header, data),
    receive: (from, header, into) => whole.receive(members[from]!, header, into),
    receiveSized: (from, header, maximum, place) =>
      whole.receiveSized(members[from]!, header, maximum, place),
    get counters() {
      return whole.counters;
    },
    abort: (error) => {
      whole.abort(error);
    },
    close: () => whole.close(),
  };
}
