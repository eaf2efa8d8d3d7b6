/**
 * A run as ranks would have recorded it, through the store's own path, as fast as it goes: times
 * are whole nanoseconds with noise and stragglers, losses fall, and each rank waits for a few
 * others.
 */
import type { RunStore } from '../../src/main/store/run-store.ts';
import { zeroPhases } from '../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import type { JournalEntry } from '../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { done, sampleSpec, started } from '../../tests/unit/main/sample-records.ts';

export interface RunSize {
  readonly iterations: number;
  readonly ranks: number;
}

/** Records of one transaction: what main gathers at most. */
const BATCH = 500;
const START = 1_790_000_000_000;

export interface Generated {
  readonly records: number;
  /** Processor time of this process, less that of making the records. */
  readonly microsecondsPerRecord: number;
}

export function generateRun(
  store: RunStore,
  id: string,
  { iterations, ranks }: RunSize,
): Generated {
  const spec = sampleSpec({ world: { ranks }, iterations });
  store.create({ id, spec, switches: [], createdAt: START });
  let sequence = 0;
  let storing = 0;
  let batch: JournalEntry[] = [];
  const flush = (): void => {
    const before = process.cpuUsage();
    store.records.append(id, batch);
    const { system, user } = process.cpuUsage(before);
    storing += system + user;
    batch = [];
  };
  const push = (record: RunRecord): void => {
    batch.push({ sequence: ++sequence, record });
    if (batch.length === BATCH) flush();
  };
  push({ ...started, ranks } as RunRecord);
  const random = xorshift(1);
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (let rank = 0; rank < ranks; rank++)
      push(recordOf(iteration, rank, ranks, random));
  }
  push({ ...done, iterations } as RunRecord);
  flush();
  const records = iterations * ranks;
  return { records, microsecondsPerRecord: storing / records };
}

export function recordOf(
  iteration: number,
  rank: number,
  ranks: number,
  random: () => number,
): IterationRecord {
  const time = (mean: number): number =>
    Math.round(mean * (0.9 + 0.2 * random()) * 1e6) / 1e6;
  const straggles = random() < 1e-4 ? 50 : 1;
  const phases = {
    ...zeroPhases(),
    data: time(0.05),
    compute: time(3 * straggles),
    compress: time(0.4),
    send: time(0.3),
    receive: time(0.3),
    wait: time(1),
    reduce: time(0.1),
    decompress: time(0.1),
    apply: time(0.2),
    other: time(0.02),
  };
  const wall =
    Math.round(Object.values(phases).reduce((sum, part) => sum + part, 0) * 1e6) / 1e6;
  const waitedFor: Record<number, number> = {};
  for (let distance = 1; distance < ranks; distance *= 2) {
    waitedFor[rank ^ distance] = time(1 / Math.log2(ranks));
  }
  const wire = 40_000 + Math.floor(random() * 1000);
  return {
    type: 'iteration',
    rank,
    iteration,
    wall,
    phases,
    at: START + iteration * 6 + random(),
    ...(ranks > 1 ? { waitedFor } : {}),
    overlapped: time(0.2),
    bytes: {
      dense: 400_000,
      payload: wire - 100,
      wireSent: wire,
      wireReceived: wire + rank,
      framingSent: 100,
      framingReceived: 100,
    },
    nnzLocal: 1000,
    nnzReduced: 4000 + Math.floor(random() * 100),
    density: 0.01,
    residualNorm: 1 + random(),
    loss: 2.3 * Math.exp(-iteration / 50_000) + 0.1 * random(),
    metric: Math.min(1, 0.1 + iteration / 1e6 + 0.05 * random()),
    lr: 0.05,
    epoch: Math.floor(iteration / 100),
    method: 'topk',
    collective: 'sparse-allgather',
  };
}

/** Numbers in [0, 1) with 32 bits, the same ones for the same seed. */
export function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
