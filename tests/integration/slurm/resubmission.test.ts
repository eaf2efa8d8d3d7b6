/** A run with a checkpoint, whose next job the cluster does not take at first. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RecordAdmission } from '../../../src/agent/supervisor/journal/record-admission.ts';
import { SupervisedRun } from '../../../src/agent/supervisor/runs/supervised-run.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { ofType } from '../../harness/records.ts';
import { FakeSlurm } from './fake-slurm.ts';
import { slurmSettings, slurmSpec } from './slurm-runs.ts';

/** Before each submission. */
const PAUSES_MS = [500, 5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000];
const REFUSALS = PAUSES_MS.length - 1;
/** Refuses, each time in other words, and then takes the job. */
const SBATCH = `echo x >> "$DIR/n"; n=$(wc -l < "$DIR/n" | tr -d ' ')
if [ "$n" -gt ${REFUSALS} ]; then echo 4711; else echo "sbatch: error: limit $n" >&2; exit 1; fi`;

let directory: string;
let journal: Journal;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-resubmission-'));
  journal = Journal.create(path.join(directory, 'j'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  journal.close();
  rmSync(directory, { recursive: true });
});

/** The run, as a supervisor finds it that starts; or a new one. */
function makeRun(isNew: boolean): SupervisedRun {
  const launch = checkedLaunch(slurmSpec({ onFailure: 'restart' }));
  const restored = {
    createdAt: 1,
    later: [],
    iterations: 3,
    fences: [],
    interrupted: true,
    admission: new RecordAdmission(),
    error: failure('SUPERVISOR_LOST', 'lost').toData(),
  };
  return new SupervisedRun({
    ...launch,
    run: 'r',
    journal,
    folder: directory,
    checkpoints: path.join(directory, 'checkpoints'),
    ranks: [0, 1],
    secret: new Uint8Array(32),
    node: 'hpc',
    coresPerRank: 1,
    listen: '127.0.0.1',
    slurm: slurmSettings({ nodes: 1 }),
    restored: isNew ? undefined : restored,
  });
}

async function real(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

test('is submitted again until it is taken, and the run says why it waits', async () => {
  using slurm = new FakeSlurm({
    sbatch: SBATCH,
    squeue: '[ -e "$DIR/gone" ] || echo "PENDING|Priority|N/A|N/A|2|"',
    scancel: 'touch "$DIR/gone"',
  });
  const run = makeRun(false);
  const records: RunRecord[] = [];
  run.follow({
    entries: (entries) => records.push(...entries.map(({ record }) => record)),
    changed: () => undefined,
  });
  for (const [refusals, pause] of PAUSES_MS.entries()) {
    // No further: sbatch would be late.
    vi.advanceTimersByTime(pause);
    await real(() => journal.lastSequence > refusals);
  }
  expect(slurm.calls('sbatch')).toHaveLength(PAUSES_MS.length);
  expect(run.state.phase).toBe('interrupted');
  await run.stop();
  await real(() => !readdirSync(directory).some((name) => name.startsWith('slurm-')));
  const queued = ofType(records, 'queued');
  expect(queued[0]).toMatchObject({
    job: 'not yet submitted',
    node: 'hpc',
    reason: 'Slurm rejected the job: limit 1',
  });
  expect(queued.find(({ job }) => job === '4711')).toBeDefined();
});

test('of a run that has never begun is not submitted again', async () => {
  using slurm = new FakeSlurm({ sbatch: SBATCH, squeue: 'exit 0' });
  const run = makeRun(true);
  await expect(run.queued).rejects.toMatchObject({ code: 'SLURM_REFUSED' });
  expect(await run.ended).toMatchObject({ code: 'SLURM_REFUSED' });
  expect(slurm.calls('sbatch')).toHaveLength(1);
});
