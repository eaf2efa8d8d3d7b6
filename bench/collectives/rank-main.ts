/** `gradwire worker bench RANK`: one rank of the benchmark of collectives. */
import { z } from 'zod';
import { serveOrders } from '../../src/agent/world/order-server.ts';
import { BenchRank } from './rank.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

const rank = new BenchRank();

serveOrders<ToRank, FromRank>('bench', z.custom<ToRank>(), (order) => {
  switch (order.type) {
    case 'listen':
      return rank.listen(order);
    case 'connect':
      return rank.connect(order);
    case 'probe':
      return rank.probe();
    case 'measure':
      return rank.measure(order.cell);
    case 'iterate':
      return rank.iterate(order.exchange);
    default:
      return order satisfies never;
  }
});
