/** Records beside the iterations: what buckets cost, and what a machine did. */
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

/** Sums of two buckets on two ranks, over iterations 0 to 3. */
export const bucketSums: readonly RunRecord[] = [0, 1].map((rank) => ({
  type: 'bucket-sums',
  at: 8.5,
  rank,
  from: 0,
  to: 4,
  exchanges: 4,
  agreement: 0.7,
  buckets: [
    {
      name: '=a … "b"',
      tensors: 2,
      method: 'topk',
      collective: 'allgather',
      length: 1000,
      compress: 1 / 3,
      wait: 3 + rank,
      receive: 0.25,
      begin: 1,
      end: 6,
      payload: 4000,
      sent: 2000,
      nnzLocal: 40,
      error: 0.5,
    },
    {
      name: 'c',
      tensors: 1,
      method: 'none',
      collective: 'ring',
      length: 24,
      reduce: 2,
      begin: 6,
      end: 9,
      payload: 384,
    },
  ],
}));

/** Two intervals of a machine with a GPU. */
export const utilisation: readonly RunRecord[] = [
  {
    type: 'utilisation',
    at: 9,
    node: 'some-host',
    from: 0,
    to: 4,
    wall: 1000,
    processors: { count: 4, busy: 3, peak: 4, own: 0.25 },
    memory: { total: 2 ** 40, used: 2 ** 38 },
    network: { sent: 1e6, received: 0, loopback: 1 / 3 },
    gpus: [{ bus: '0000:01:00.0', name: '=A "GPU" é𝛽', busy: 0.5, memory: 7 }],
    ranks: [
      { rank: 0, busy: 1.5, memory: 2 ** 30 },
      { rank: 1, busy: 0.5 },
    ],
  },
  {
    type: 'utilisation',
    at: 10,
    node: 'some-host',
    from: 4,
    to: 9,
    wall: 2000,
    ranks: [{ rank: 0 }],
  },
];
