/** Records as a run leaves them, for tests that need no run. */
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { zeroPhases } from '../../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

export const plan = (method: string) => ({
  method,
  parameters: method === 'topk' ? { ratio: 0.01 } : {},
  collective: method === 'topk' ? 'sparse-allgather' : 'ring',
  bucketBytes: 4 * 2 ** 20,
});

export function sampleSpec(overrides: Record<string, unknown> = {}) {
  return parseExperimentSpec({
    name: 'sample',
    workload: { model: 'fnn3', dataset: 'digits' },
    world: { ranks: 2 },
    iterations: 10,
    ...overrides,
  });
}

/** Loss is 10·iteration + rank, so that a mean over ranks is known. */
export function iterationRecord(iteration: number, rank: number): IterationRecord {
  return {
    type: 'iteration',
    rank,
    iteration,
    at: 1_700_000_000_000 + iteration,
    wall: 3.5,
    phases: { ...zeroPhases(), compute: 2, wait: 1, other: 0.5 },
    ...(rank === 0 ? { waitedFor: { 1: 1 } } : {}),
    overlapped: 0.25,
    bytes: {
      dense: 4000,
      payload: 80,
      wireSent: 100,
      wireReceived: 101,
      framingSent: 20,
      framingReceived: 21,
    },
    nnzLocal: 10,
    loss: 10 * iteration + rank,
    lr: 0.05,
    epoch: 0,
    method: 'topk',
    collective: 'sparse-allgather',
  };
}

export const started = {
  type: 'started',
  at: 1_700_000_000_000,
  ranks: 2,
  backend: 'wasm',
  parameters: 1000,
  plan: plan('none'),
  processes: [],
} satisfies RunRecord;

export const done = {
  type: 'done',
  at: 1_700_000_001_000,
  reason: 'completed',
  iterations: 10,
  loss: 0.5,
  metric: 0.97,
  consistent: true,
  weights: 'abc',
} satisfies RunRecord;

export function switchRecord(fence: number, from: string, to: string): RunRecord {
  return {
    type: 'switch',
    at: 1_700_000_000_500,
    fence,
    epoch: 1,
    from: plan(from),
    to: plan(to),
    residual: 'none',
    resynchronized: false,
  };
}

/** Entries with sequences from 1, or after the one given. */
export function entries(records: readonly RunRecord[], after = 0): JournalEntry[] {
  return records.map((record, index) => ({ sequence: after + index + 1, record }));
}

/** A whole run: started, iterations of two ranks, evaluations, done. */
export function wholeRun(iterations: number): JournalEntry[] {
  const records: RunRecord[] = [started];
  for (let iteration = 0; iteration < iterations; iteration++) {
    records.push(iterationRecord(iteration, 0), iterationRecord(iteration, 1));
    if (iteration % 5 === 4) {
      records.push({
        type: 'evaluation',
        iteration,
        at: 1,
        loss: 1,
        metric: iteration / 100,
        samples: 100,
        wall: 1,
      });
    }
  }
  records.push(done);
  return entries(records);
}
