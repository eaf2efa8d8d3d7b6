/** A Slurm that answers late, wrongly or not at all: no allocation is lost. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  SlurmAllocation,
  type AllocationOptions,
} from '../../../src/agent/slurm/allocation.ts';
import { submitJob } from '../../../src/agent/slurm/slurm-client.ts';
import { failure, type ErrorData } from '../../../src/shared/errors/errors.ts';
import type { AllocatedRecord } from '../../../src/shared/records/allocated.ts';
import type { QueuedRecord } from '../../../src/shared/records/queued.ts';
import { effort } from '../../harness/effort.ts';
import { until } from '../../harness/processes.ts';
import { FakeSlurm, GONE, shown } from './fake-slurm.ts';
import { slurmSettings } from './slurm-runs.ts';

const RUNS = `[ -e "$DIR/gone" ] || echo "RUNNING|None|2026-03-01T12:00:00|N/A|2|n0"`;
const NODE = 'echo "NodeName=n0 NodeAddr=127.0.0.1 CPUTot=2"';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-run-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What becomes of a run's nodes. */
class Fate implements AsyncDisposable {
  readonly queued: QueuedRecord[] = [];
  readonly allocated: AllocatedRecord[] = [];
  readonly lost: ErrorData[] = [];
  readonly ending: ErrorData[] = [];
  readonly allocation: SlurmAllocation;

  constructor(more: Partial<AllocationOptions> = {}) {
    this.allocation = new SlurmAllocation(
      {
        run: 'r1',
        ranks: 2,
        settings: slurmSettings({ nodes: 1 }),
        folder,
        node: 'hpc',
        ...more,
      },
      {
        queued: (record) => this.queued.push(record),
        allocated: (record) => this.allocated.push(record),
        ending: (error) => this.ending.push(error),
        lost: (error) => this.lost.push(error),
        unsubmitted: (error) => this.lost.push(error),
      },
    );
    this.allocation.ask();
  }

  /** When its job is cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.allocation.release();
    await until(
      () => readdirSync(folder),
      (files) => files.length === 0,
      'the job to be cancelled',
    );
  }
}

/** Waits while timers stand still. */
async function whileReal(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    if (turns === 200_000) throw new Error('it has not come to that');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const settled = ({ allocated, lost }: Fate): Promise<unknown> =>
  until(
    () => allocated.length + lost.length,
    (count) => count > 0,
    'the nodes, or the end of the job',
  );

describe('nodes of a job that has just started', () => {
  const silences = [
    ['does not answer', 'echo "slurm_load_node: Socket timed out" >&2; exit 1'],
    ['says nothing', 'exit 0'],
    ['is away', 'exit 127'],
  ] as const;
  test.each(silences.slice(0, effort({ quick: 1, soak: 3 })))(
    'are asked for again if scontrol %s once',
    async (_, silence) => {
      using slurm = new FakeSlurm({
        sbatch: 'echo 4711',
        squeue: RUNS,
        scontrol: `if [ -e "$DIR/asked" ]; then ${NODE}; else touch "$DIR/asked"; ${silence}; fi`,
        scancel: GONE,
      });
      await using fate = new Fate();
      await settled(fate);
      expect(fate.lost).toEqual([]);
      expect(fate.allocated).toMatchObject([{ job: '4711', computeNodes: ['n0'] }]);
      expect(slurm.calls('scancel')).toEqual([]);
      expect(fate.queued.at(-1)!.reason).toMatch(
        /^it runs, but its nodes are not known/,
      );
    },
  );

  test('are given up when they stay unknown', async () => {
    using slurm = new FakeSlurm({
      sbatch: 'echo 4711',
      squeue: RUNS,
      scontrol: 'exit 1',
      scancel: GONE,
    });
    await using fate = new Fate({ nodesPatienceMs: 300 });
    await settled(fate);
    expect(fate.lost).toMatchObject([{ code: 'SLURM_SILENT' }]);
    expect(slurm.calls('scontrol').length).toBeGreaterThan(1);
  });
});

describe('a job whose sbatch does not say its number', () => {
  const mark = { name: 'gradwire r1 0a1b', token: '0a1b' };
  const listed = 'echo "JOBID|NAME|COMMENT"; echo "4711|gradwire r1 0a1b|(null)"';
  const submission = {
    script: '#!/bin/sh\n',
    options: [],
    node: 'hpc',
    mark,
    submitMs: 300,
  };

  test.each([
    ['hangs, as does what it has started', 'sleep 1000 & sleep 1000', listed],
    [
      'is seen a while later',
      'sleep 1000',
      `[ -e "$DIR/a" ] && { ${listed}; }; touch "$DIR/a"`,
    ],
    ['was interrupted', 'echo "Socket timed out on send/recv" >&2; exit 1', listed],
    ['is quiet', 'exit 0', listed],
    [
      'is of a cluster',
      'exit 0',
      `echo "CLUSTER: a"; echo; echo "CLUSTER: b"; ${listed}`,
    ],
  ])('is found by its name: sbatch %s', async (_, sbatch, squeue) => {
    using slurm = new FakeSlurm({ sbatch, squeue });
    const job = await submitJob({ ...submission, lookForMs: 30_000 });
    expect(job).toMatchObject({ ...mark, id: '4711' });
    expect(job.clusters).toBe(squeue.includes('CLUSTER') ? 'b' : undefined);
    expect(slurm.calls('squeue')[0]).toContain('--name=gradwire r1 0a1b');
  });

  test('is not another job of that name', async () => {
    using slurm = new FakeSlurm({
      sbatch: 'exit 0',
      squeue: 'echo "12|mine|gradwire ffff"; echo "13|mine|gradwire 0a1b"',
    });
    const job = await submitJob({ ...submission, mark: { ...mark, name: 'mine' } });
    expect(job.id).toBe('13');
    expect(slurm.calls('sbatch')).toHaveLength(1);
  });

  test('is told as silence, not as a refusal, if nobody answers', async () => {
    using slurm = new FakeSlurm({ sbatch: 'sleep 1000', squeue: 'exit 1' });
    const error = await submitJob({ ...submission, lookForMs: 100 }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 'SLURM_SILENT',
      place: 'hpc',
      next: expect.stringContaining('scancel --name="gradwire r1 0a1b"') as string,
    });
    // Killed, with what it had started.
    const left = spawnSync('pgrep', ['-f', `${slurm.directory}/sbatch`]);
    expect(left.stdout.toString()).toBe('');
  });

  test('is cancelled, and looked for, when the run is stopped meanwhile', async () => {
    using slurm = new FakeSlurm({
      sbatch: 'exec sleep 1000',
      squeue: shown(
        'echo "4711|$(sed -n "s/.*job-name=\\(gradwire r1 [0-9a-f]*\\).*/\\1/p" "$DIR/calls")|"',
      ),
      scancel: GONE,
    });
    await using fate = new Fate();
    await slurm.called('sbatch', /job-name/);
    fate.allocation.release();
    await slurm.called('scancel', /--name=gradwire r1 [0-9a-f]{8} 4711$/);
    await fate.allocation.asked;
    expect(fate.lost).toEqual([]);
  });
});

test('a suspended job is not ended by the end that it had', async () => {
  const inAnHour = new Date(
    Date.now() + 3_600_000 - new Date().getTimezoneOffset() * 60_000,
  )
    .toISOString()
    .slice(0, 19);
  using slurm = new FakeSlurm({
    sbatch: 'echo 4711',
    squeue: `[ -e "$DIR/gone" ] || echo "$(cat "$DIR/state" 2>/dev/null || echo RUNNING)|None|2026-03-01T12:00:00|${inAnHour}|2|n0"`,
    scontrol: NODE,
    scancel: GONE,
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await using fate = new Fate();
    await whileReal(() => fate.queued.length === 1 && vi.getTimerCount() === 1);
    vi.advanceTimersToNextTimer();
    // The next look, and the end.
    await whileReal(() => fate.allocated.length === 1 && vi.getTimerCount() === 2);
    writeFileSync(path.join(slurm.directory, 'state'), 'SUSPENDED');
    vi.advanceTimersToNextTimer();
    await whileReal(
      () => vi.getTimerCount() === 1 && slurm.calls('squeue').length === 2,
    );
    vi.advanceTimersByTime(2 * 3_600_000);
    expect(fate.ending).toEqual([]);
    vi.useRealTimers();
  } finally {
    vi.useRealTimers();
  }
});

describe('nodes that are taken back slowly', () => {
  const ranksGone = failure('PEER_LOST', 'the connection was closed').toData();
  const states = `[ -e "$DIR/gone" ] || echo "$(cat "$DIR/state" 2>/dev/null || echo RUNNING)|None|2026-03-01T12:00:00|N/A|2|n0"`;
  const scripts = {
    sbatch: 'echo 4711',
    squeue: states,
    scontrol: NODE,
    scancel: GONE,
  };
  const completes = (slurm: FakeSlurm): void => {
    writeFileSync(path.join(slurm.directory, 'state'), 'COMPLETING');
  };

  test('are the cause, however long that takes, and get no ranks', async () => {
    using slurm = new FakeSlurm(scripts);
    await using fate = new Fate();
    await settled(fate);
    completes(slurm);
    const cause = fate.allocation.explain(ranksGone);
    await until(
      () => fate.allocation.placement,
      (placement) => placement === undefined,
      'the nodes to be no place for ranks',
    );
    // No other job either: this one may still end well.
    fate.allocation.ask();
    writeFileSync(path.join(slurm.directory, 'state'), 'NODE_FAIL');
    expect(await cause).toMatchObject({
      code: 'JOB_LOST',
      message: 'Slurm job 4711 has ended: NODE_FAIL',
    });
    expect(slurm.calls('sbatch')).toHaveLength(1);
  });

  test('are lost if that never ends', async () => {
    using slurm = new FakeSlurm(scripts);
    await using fate = new Fate({ completingMs: 1 });
    await settled(fate);
    completes(slurm);
    expect(await fate.allocation.explain(ranksGone)).toMatchObject({
      code: 'JOB_LOST',
      message: 'Slurm job 4711 does not come to an end: COMPLETING',
    });
  });
});

test('the commands go to the cluster that has the job', async () => {
  using slurm = new FakeSlurm({
    sbatch: 'echo "17;b"',
    squeue: RUNS,
    scontrol: NODE,
    scancel: GONE,
  });
  const settings = slurmSettings({ nodes: 1, options: ['--clusters=a,b'] });
  await using fate = new Fate({ settings });
  await settled(fate);
  const step = fate.allocation.placement!.commandOf(0, '/agent.js').prefix;
  expect(step).toContain('--clusters=b');
  fate.allocation.release();
  await slurm.called('scancel', / 17$/);
  for (const command of ['squeue', 'scontrol', 'scancel'] as const) {
    for (const call of slurm.calls(command)) expect(call).toMatch(/ --clusters=b /);
  }
  expect(slurm.calls('scancel')[0]).toMatch(/ --name=gradwire r1 [0-9a-f]{8} 17$/);
});

test('jobs and nodes of a hidden partition are seen', async () => {
  // Without --all, Slurm names none of them.
  const hidden = (answer: string): string =>
    `case " $* " in *' --all '*) ${answer} ;; esac`;
  using slurm = new FakeSlurm({
    sbatch: 'echo 4711',
    squeue: hidden(RUNS),
    scontrol: hidden(NODE),
    scancel: GONE,
  });
  await using fate = new Fate();
  await settled(fate);
  expect(fate.lost).toEqual([]);
  expect(fate.allocated).toMatchObject([{ job: '4711', computeNodes: ['n0'] }]);
  expect(slurm.calls('sbatch')).toHaveLength(1);
});

test.each(['PATIENCE', 'LEAD'])('a %s that is no number is refused', async (name) => {
  const variable = `GRADWIRE_SLURM_${name}_SECONDS`;
  process.env[variable] = '1O';
  try {
    await using fate = new Fate();
    await expect(fate.allocation.asked).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      place: variable,
    });
  } finally {
    Reflect.deleteProperty(process.env, variable);
  }
});
