/** `gradwire worker probe RANK`: one rank of a measurement of the network. */
import { MeshSeat } from '../transport/mesh-seat.ts';
import { serveOrders } from '../world/order-server.ts';
import { timeLinkEnd } from './link-end.ts';
import { probe } from './probe-rank.ts';
import { toRankSchema, type FromRank, type ToRank } from './rank-protocol.ts';

const LOOPBACK = '127.0.0.1';

let rank = 0;
let seat: MeshSeat | undefined;

async function obey(order: ToRank): Promise<FromRank> {
  switch (order.type) {
    case 'listen':
      ({ rank } = order);
      seat = await MeshSeat.listen(order.host ?? LOOPBACK, {
        ports: order.ports,
        elsewhere: true,
      });
      return { type: 'listening', address: seat.address };
    case 'probe':
      return { type: 'probed', ...(await probe(rank, seated(), order)) };
    case 'time':
      return { type: 'timed', ...(await timeLinkEnd(rank, seated(), order)) };
    default:
      return order satisfies never;
  }
}

function seated(): MeshSeat {
  if (seat === undefined) throw new Error('internal: not listening');
  return seat;
}

serveOrders<ToRank, FromRank>('probe', toRankSchema, obey);
