/**
 * A run that has trained, written to the store: two ranks, 50 iterations of equal length, a falling
 * loss, an accuracy of 80 % after 40 iterations.
 */
import type { RunStore } from '../../src/main/store/run-store.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import {
  done,
  entries,
  iterationRecord,
  plan,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

export interface TrainedRun {
  readonly method: string;
  readonly seed: number;
  /** Milliseconds of an iteration, at least 2. */
  readonly wall: number;
  readonly name?: string;
}

const ITERATIONS = 50;
/** Where the first of them begins, by how many were made: none runs beside another. */
const HOUR = 3_600_000;
let made = 0;

export function recordTrainedRun(
  store: RunStore,
  id: string,
  { method, name = 'trained', seed, wall }: TrainedRun,
): void {
  const at = 1_700_000_000_000 + HOUR * made++;
  const spec = sampleSpec({
    name,
    seed,
    iterations: ITERATIONS,
    exchange: { method, ...(method === 'topk' ? { ratio: 0.01 } : {}) },
  });
  store.create({ id, spec, switches: [], createdAt: at });
  const records: RunRecord[] = [
    {
      ...started,
      at,
      iterationsPerPass: 20,
      plan: { ...plan(method), collective: 'auto' },
    } as RunRecord,
  ];
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    for (const rank of [0, 1]) {
      const record = iterationRecord(iteration, rank);
      const phases = { ...record.phases, compute: wall - 1.5 };
      const loss = 2.3 * 0.95 ** iteration + 0.01 * rank;
      records.push({ ...record, wall, phases, loss, method });
    }
    if (iteration % 10 === 9) {
      const metric = 0.4 + 0.1 * ((iteration + 1) / 10);
      const end = at + iteration;
      records.push({
        type: 'evaluation',
        iteration,
        at: end,
        metric,
        samples: 9,
        wall: 1,
      });
    }
  }
  records.push({ ...done, at: at + 1000 * wall, iterations: ITERATIONS } as RunRecord);
  store.records.append(id, entries(records));
}
