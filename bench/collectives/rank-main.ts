/** `rank-main.ts`: one rank of the benchmark as a process. Its parent's end is its own. */
import { toErrorData } from '../../src/shared/errors.ts';
import { BenchRank } from './rank.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

const rank = new BenchRank();

function obey(order: ToRank): Promise<FromRank> {
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
}

function answer(report: FromRank): void {
  // A parent that was interrupted does not hear it; `disconnect` comes next.
  if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
}

process.on('message', (order) => {
  obey(order as ToRank).then(answer, (error: unknown) => {
    answer({ type: 'failed', error: toErrorData(error) });
  });
});
process.on('disconnect', () => {
  void rank.close().finally(() => process.exit());
});
