/** Checkpoints of a run on a node, as files that ranks have written. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkpointFile } from '../../../src/agent/checkpoint/rank-checkpoint.ts';
import { RecordAdmission } from '../../../src/agent/supervisor/journal/record-admission.ts';
import { RunCheckpoints } from '../../../src/agent/supervisor/runs/run-checkpoints.ts';
import { iterationRecord } from '../main/sample-records.ts';

const RANKS = [0, 1];
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-checkpoints-'));
  for (const iteration of [10, 20]) for (const rank of RANKS) write(iteration, rank);
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function write(iteration: number, rank: number): void {
  const file = checkpointFile(directory, iteration, rank);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, 'x');
}

/** The records of 23 iterations. */
function recorded(): RecordAdmission {
  const admission = new RecordAdmission();
  for (const rank of RANKS) admission.recall(iterationRecord(22, rank));
  return admission;
}

const written = (iteration: number) => ({ iteration, bytes: 1, wall: 1 });

test('one that is written once more is whole only when all ranks have', () => {
  const checkpoints = new RunCheckpoints(directory, RANKS, 'box');
  expect(checkpoints.resumable(recorded())).toEqual([0, 10, 20]);
  // The ranks go on from 10, and are lost while they write 20 again.
  checkpoints.add(0, written(20));
  checkpoints.forgetUnfinished();
  expect(checkpoints.resumable(recorded())).toEqual([0, 10]);
});

test('those after the iteration from which all ranks resume are gone', () => {
  const checkpoints = new RunCheckpoints(directory, RANKS, 'box');
  checkpoints.returnTo(10);
  expect(checkpoints.resumable(recorded())).toEqual([0, 10]);
  expect(existsSync(path.dirname(checkpointFile(directory, 20, 0)))).toBe(false);
  expect(new RunCheckpoints(directory, RANKS, 'box').resumable(recorded())).toEqual([
    0, 10,
  ]);
});
