/** `gradwire worker probe RANK`: one rank of a measurement of the network. */
import { serveOrders } from '../world/order-server.ts';
import { ProbeRank } from './probe-rank.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

/** Ranks of one command are processes of one machine. */
const HOST = '127.0.0.1';

let prober: ProbeRank | undefined;

async function obey(order: ToRank): Promise<FromRank> {
  switch (order.type) {
    case 'listen':
      prober = new ProbeRank(order.rank);
      return { type: 'listening', address: await prober.listen(HOST) };
    case 'probe':
      if (prober === undefined) throw new Error('internal: probe before listen');
      return { type: 'probed', ...(await prober.probe(order)) };
    default:
      return order satisfies never;
  }
}

serveOrders<ToRank, FromRank>('probe', obey);
