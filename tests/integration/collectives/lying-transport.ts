/** A transport that changes one of its messages before it leaves: a peer that is wrong. */
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';

/** @param which counts the messages that it sends, from 0 on */
export function lying(
  transport: MeshTransport,
  which: number,
  spoil: (words: Uint32Array) => void,
): Transport {
  let sent = 0;
  return {
    rank: transport.rank,
    size: transport.size,
    get counters() {
      return transport.counters;
    },
    send: (to, header, data) => {
      if (sent++ !== which) return transport.send(to, header, data);
      const copy = Uint8Array.from(data);
      spoil(new Uint32Array(copy.buffer));
      return transport.send(to, header, copy);
    },
    receive: (from, header, into) => transport.receive(from, header, into),
    receiveSized: (from, header, maximum, place) =>
      transport.receiveSized(from, header, maximum, place),
    abort: (error) => {
      transport.abort(error);
    },
    close: () => transport.close(),
  };
}
