/**
 * A transport whose sends wait a random number of turns of the event loop, in order for
 * each peer: ranks that are slow in all ways that an order of messages allows.
 */
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import type {
  MessageHeader,
  Transport,
} from '../../../src/agent/transport/transport.ts';

export function delayed(transport: MeshTransport, random: () => number): Transport {
  const last = new Map<number, Promise<void>>();
  const turns = async (): Promise<void> => {
    for (let turn = Math.floor(6 * random()); turn > 0; turn--) {
      await new Promise(setImmediate);
    }
  };
  return {
    rank: transport.rank,
    size: transport.size,
    get counters() {
      return transport.counters;
    },
    send: (to: number, header: MessageHeader, data: Uint8Array) => {
      const sent = (last.get(to) ?? Promise.resolve())
        .then(turns)
        .then(() => transport.send(to, header, data));
      last.set(to, sent);
      return sent;
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
