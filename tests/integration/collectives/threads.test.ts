/** Ranks where they really live: one engine thread each. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { WireCounters } from '../../../src/agent/transport/transport.ts';
import { effort } from '../../harness/effort.ts';
import { collectiveCases } from './collective-cases.ts';
import { firstDifference, integers, sameBits, sumOf } from './run-collective.ts';
import type { RankWork } from './rank-thread.ts';
import { TRANSPORT_KINDS, type TransportKind } from './world.ts';

const ids = Object.keys(collectiveCases);

interface Result {
  readonly sums: readonly Float32Array[];
  readonly counters: WireCounters;
}

async function runThreads(
  ranks: number,
  work: Omit<RankWork, 'rank'>,
): Promise<Result[]> {
  const workers = Array.from({ length: ranks }, (_, rank) => {
    const workerData: RankWork = { ...work, rank };
    return new Worker(new URL('rank-thread.ts', import.meta.url), { workerData });
  });
  const next = () =>
    Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  const ended = workers.map((worker) => once(worker, 'exit'));
  const addresses = await next();
  const results = next();
  for (const worker of workers) worker.postMessage(addresses);
  const found = (await results) as Result[];
  // They end by themselves: a socket or timer left open would keep them.
  expect(await Promise.all(ended)).toEqual(workers.map(() => [0]));
  return found;
}

const kinds = effort<readonly TransportKind[]>({
  quick: ['native'],
  soak: TRANSPORT_KINDS,
});

describe.each(kinds)('%s:', (transport) => {
  test('four threads: exact sums, all collectives one after the other', async () => {
    // Parts of more than a chunk of a socket holds.
    const length = 100_000;
    const results = await runThreads(4, {
      collectives: ids,
      length,
      values: 'integers',
      transport,
    });
    for (const [place, id] of ids.entries()) {
      const density = collectiveCases[id]!.kind === 'sparse' ? 0.01 : 1;
      const expected = sumOf(
        [0, 1, 2, 3].map((rank) => integers(rank, length, density)),
      );
      for (const { sums } of results) {
        expect(firstDifference(sums[place]!, expected)).toBe(-1);
      }
    }
    const total = (key: keyof WireCounters) =>
      results.reduce((sum, { counters }) => sum + counters[key], 0);
    expect(total('sent')).toBe(total('received'));
    expect(total('framingSent')).toBe(total('framingReceived'));
  });
});

test('three threads, two runs, either transport: the same bits', async () => {
  const work = { collectives: ids, length: 50_021, values: 'floats' } as const;
  const transports = effort({
    quick: ['tcp', 'native'] as const,
    soak: ['tcp', 'native', 'native', 'tcp'] as const,
  });
  const runs: Result[] = [];
  for (const transport of transports) {
    runs.push(...(await runThreads(3, { ...work, transport })));
  }
  for (const place of ids.keys()) {
    const first = runs[0]!.sums[place]!;
    expect(runs.every(({ sums }) => sameBits(sums[place]!, first))).toBe(true);
  }
});
