/**
 * Times the collectives over TCP on loopback, one worker thread per rank, and prints a
 * table: quantiles over exchanges of rank 0's time, and busbw = algbw·2(P−1)/P from the
 * median, the convention of nccl-tests.
 *
 *   node bench/collectives.ts
 *
 * What would be noticed here: a copy, a wait or an allocation more on the way of a
 * message; a round that no longer overlaps the next. Needs the built kernels.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RankTask } from './collectives-rank.ts';

const cases: readonly (Omit<RankTask, 'rank'> & { readonly ranks: number })[] = [
  { ranks: 2, collective: 'recursive-doubling', length: 2, count: 2, exchanges: 3000 },
  { ranks: 4, collective: 'recursive-doubling', length: 2, count: 2, exchanges: 2000 },
  { ranks: 2, collective: 'ring', length: 200_000, count: 200_000, exchanges: 300 },
  { ranks: 4, collective: 'ring', length: 200_000, count: 200_000, exchanges: 300 },
  { ranks: 4, collective: 'ring', length: 2_500_000, count: 2_500_000, exchanges: 40 },
  {
    ranks: 4,
    collective: 'rabenseifner',
    length: 2_500_000,
    count: 2_500_000,
    exchanges: 40,
  },
  {
    ranks: 4,
    collective: 'sparse-allgather',
    length: 200_000,
    count: 2000,
    exchanges: 500,
  },
  // SparCML's microbenchmark in small: d = 0.78 %, on loopback.
  ...[
    'ssar-recursive-doubling',
    'ssar-split-allgather',
    'dsar-split-allgather',
    'sparse-ring',
    'sparse-allgather',
  ].map((collective) => ({
    ranks: 4,
    collective,
    length: 2_500_000,
    count: 19_500,
    exchanges: 60,
  })),
];

/** Sorted milliseconds of each exchange, as rank 0 saw them. */
async function run(task: Omit<RankTask, 'rank'>, ranks: number): Promise<number[]> {
  const workers = Array.from({ length: ranks }, (_, rank) => {
    const workerData: RankTask = { ...task, rank };
    return new Worker(new URL('collectives-rank.ts', import.meta.url), { workerData });
  });
  const next = (): Promise<unknown[]> =>
    Promise.all(
      workers.map(async (worker) => (await once(worker, 'message'))[0] as unknown),
    );
  const addresses = await next();
  const results = next();
  for (const worker of workers) worker.postMessage(addresses);
  const [times] = (await results) as number[][];
  return times!.sort((a, b) => a - b);
}

const rows: Record<string, object> = {};
for (const { ranks, ...task } of cases) {
  const times = await run(task, ranks);
  const at = (share: number): number => times[Math.floor(share * times.length)]!;
  const dense = 4 * task.length;
  const bandwidth = (dense / at(0.5) / 1e6) * ((2 * (ranks - 1)) / ranks);
  rows[`${task.collective}, P = ${ranks}, ${dense} dense bytes`] = {
    'p10 ms': Number(at(0.1).toFixed(3)),
    'median ms': Number(at(0.5).toFixed(3)),
    'p90 ms': Number(at(0.9).toFixed(3)),
    'busbw GB/s': Number(bandwidth.toFixed(2)),
  };
}
console.table(rows);
