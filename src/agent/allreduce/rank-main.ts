/** `gradwire worker allreduce RANK`: one rank of `gradwire allreduce`. */
import { serveOrders } from '../world/order-server.ts';
import { AllreduceRank } from './rank.ts';
import { toRankSchema, type FromRank, type ToRank } from './rank-protocol.ts';

const rank = new AllreduceRank();

serveOrders<ToRank, FromRank>('allreduce', toRankSchema, (order) => {
  switch (order.type) {
    case 'load':
      return rank.load(order);
    case 'reduce':
      return rank.reduce(order);
    case 'write':
      return rank.write(order);
    default:
      return order satisfies never;
  }
});
