/** What goes wrong with a run's processes: how it ends, and what the user is told. */
import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FailedRecord } from '../../../src/shared/records/failed.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { effort } from '../../harness/effort.ts';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { type OfType } from '../../harness/records.ts';

/** One after the other, so that its processes are those of one run. */
const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const reaches = (iteration: number) => (record: OfType<'iteration'>) =>
  record.iteration >= iteration;

function failureOf(command: RunningCommand): FailedRecord['error'] {
  const failed = command.records.find((record) => record.type === 'failed');
  if (failed === undefined) throw new Error('the run has no failed record');
  return failed.error;
}

const workers = (): readonly number[] =>
  home.processes('gradwire worker').map(({ pid }) => pid);

/** Every process of the run leaves, and those of the home. */
async function everyProcessEnds(): Promise<void> {
  await until(
    () => home.processes(),
    (left) => left.length === 0,
    'all processes of the run to end',
  );
}

/** As the next command finds it. */
async function newest(): Promise<RunSummary> {
  const { code, stderr, stdout } = await home.run([
    ...['runs', 'list', '--limit', '1', '--json'],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as RunSummary;
}

/** All iteration records of a run that are stored. */
async function iterationsOf(run: string): Promise<readonly IterationRecord[]> {
  const { stdout } = await home.run(['runs', 'export', run, '--format', 'json']);
  return (JSON.parse(stdout) as { iterations: IterationRecord[] }).iterations;
}

const rankAndIteration = ({ rank, iteration }: IterationRecord): string =>
  `${rank}/${iteration}`;

/** One line, coded, no stack. */
function expectOneLine(stderr: string, code: string): void {
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(new RegExp(`^gradwire: ${code}: `));
  expect(stderr).not.toMatch(/\n\s+at /);
}

const endless = (...settings: readonly string[]): RunningCommand =>
  home.startQuickstart([...LASTING, ...settings]);

describe('a run whose worker is killed', () => {
  /** Of one that runs: in the middle of compute, of exchange, of apply, as it happens. */
  const killRunning = async (command: RunningCommand, round: number) => {
    const { processes } = await command.record('started');
    await command.record('iteration', reaches((round * 7) % 40));
    const victim = processes[round % processes.length]!;
    process.kill(victim.pid, 'SIGKILL');
    return victim.rank;
  };

  const expectWorkerDied = async (command: RunningCommand, rank: number) => {
    const { code, stderr } = await command.finished;
    // Not by the limits on silence, which name another reason.
    expectOneLine(stderr, 'WORKER_DIED');
    expect(code).toBe(1);
    expect(stderr).toContain(`the process of rank ${rank} was killed by SIGKILL`);
    expect(workers()).toEqual([]);
    await everyProcessEnds();
    expect(await newest()).toMatchObject({
      state: 'failed',
      error: { code: 'WORKER_DIED', rank, place: 'this computer' },
    });
  };

  it('while it prepares ends, naming the rank', async () => {
    const command = endless('world.ranks=2');
    const [first] = await until(
      () => home.processes('gradwire worker'),
      (found) => found.some(({ title }) => / [01]$/.test(title)),
      'a worker',
    ).then((found) => found.filter(({ title }) => / [01]$/.test(title)));
    process.kill(first!.pid, 'SIGKILL');
    await expectWorkerDied(command, Number(first!.title.at(-1)));
  });

  it.each(['none', 'topk', 'a2sgd'].slice(0, effort({ quick: 1, soak: 3 })))(
    'while it trains by %s ends, naming the rank, not one that misses it',
    async (method) => {
      for (let round = 1; round <= effort({ quick: 1, soak: 12 }); round++) {
        const command = endless('world.ranks=3', `exchange.method=${method}`);
        const rank = await killRunning(command, round);
        await expectWorkerDied(command, rank);
        expect(failureOf(command)).toMatchObject({ code: 'WORKER_DIED', rank });
      }
    },
  );

  it('while it serves the others ends, naming the rank', { tags: 'soak' }, async () => {
    const command = endless(
      ...['world.ranks=3', 'exchange.collective=parameter-server'],
    );
    const { processes } = await command.record('started');
    await command.record('iteration', reaches(5));
    const server = processes.find(({ rank }) => rank === 0)!;
    process.kill(server.pid, 'SIGKILL');
    await expectWorkerDied(command, server.rank);
  });

  it('while it evaluates ends, naming the rank', { tags: 'soak' }, async () => {
    // Nearly all of its time goes there: the test set is many batches.
    const command = endless(
      'world.ranks=2',
      'evaluateEvery=1',
      'exchange.method=a2sgd',
    );
    await command.record('evaluation');
    await expectWorkerDied(command, await killRunning(command, 0));
  });
});

describe('a run that goes wrong', () => {
  it('names the rank that hangs, not one that gave up waiting for it', async () => {
    const command = endless('world.ranks=3', 'timeoutSeconds=1');
    const { processes } = await command.record('started');
    const victim = processes[2]!;
    process.kill(victim.pid, 'SIGSTOP');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expectOneLine(stderr, 'PEER_SILENT');
    expect(failureOf(command)).toMatchObject({ rank: victim.rank });
    expect(stderr).toMatch(
      new RegExp(`rank ${victim.rank} sent rank \\d no sign of life within 1 s`),
    );
    expect(workers()).toEqual([]);
    await everyProcessEnds();
  });

  it('reports a full disk, and keeps what was journalled', async () => {
    await using full = new GradwireHome();
    // A limit on the size of files stands in for a full disk: writes fail the same way.
    const command = full.startQuickstart(['iterations=1000000', 'world.ranks=1'], {
      shell: 'ulimit -f 400; trap "" XFSZ',
    });
    const { code, stderr } = await command.finished;
    // Where the database is full first, the run goes on without the command.
    expect(code).toBe(stderr.includes('RUN_UNFOLLOWED') ? 3 : 1);
    expect(stderr).toMatch(/JOURNAL_WRITE_FAILED|DATABASE_WRITE_FAILED/);
    expect(stderr).not.toMatch(/\n\s+at /);
    const stored = command.records.filter(({ type }) => type === 'iteration');
    expect(stored.length).toBeGreaterThan(0);
    // Where the database was full first the run goes on until its journal is full too:
    // leaving the home waits for that.
  });

  it('loses nothing when the command is killed: the run goes on and is found again', async () => {
    const command = endless('world.ranks=2');
    const { processes } = await command.record('started');
    await command.record('iteration');
    process.kill(command.child.pid!, 'SIGKILL');
    await command.finished;
    const pids = processes.map(({ pid }) => pid);
    expect(workers().toSorted()).toEqual(pids.toSorted());
    const { id } = await newest();
    succeeded(await home.run(['runs', 'stop', id]));
    await everyProcessEnds();
    const { iterations, state } = await newest();
    expect(state).toBe('stopped');
    const records = await iterationsOf(id);
    expect(new Set(records.map(rankAndIteration)).size).toBe(2 * iterations);
    expect(records).toHaveLength(2 * iterations);
  });

  it('takes its workers with it when the supervisor dies, and keeps what it journalled', async () => {
    const command = endless('world.ranks=2');
    const { processes } = await command.record('started');
    await command.record('iteration', reaches(20));
    expect(workers()).toHaveLength(processes.length);
    const [supervisor] = home.supervisors();
    process.kill(supervisor!.pid, 'SIGKILL');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expectOneLine(stderr, 'SUPERVISOR_LOST');
    await everyProcessEnds();
    const { id, state, error } = await newest();
    expect({ state, code: error?.code }).toEqual({
      state: 'failed',
      code: 'SUPERVISOR_LOST',
    });
    // Nothing that was told is lost. (One rank's records may be ahead of the other's.)
    const kept = new Set((await iterationsOf(id)).map(rankAndIteration));
    const told = command.records.filter((record) => record.type === 'iteration');
    expect(told.length).toBeGreaterThan(20);
    expect(told.filter((record) => !kept.has(rankAndIteration(record)))).toEqual([]);
  });
});

it('a rank that gets no memory by a limit names the limit', async () => {
  await using limited = new GradwireHome();
  const command = limited.startQuickstart(['iterations=2', 'world.ranks=1'], {
    shell: 'ulimit -v 4000000',
  });
  const { code, stderr } = await command.finished;
  expectOneLine(stderr, 'ADDRESS_SPACE_LIMITED');
  expect(stderr).toContain(
    'by a limit: a process may use 3906 MiB of address space (RLIMIT_AS, ulimit -v), ' +
      'and a rank needs 11718',
  );
  expect(code).toBe(1);
});

/** Control groups of version 1, as a container or a batch job limits memory by. */
const MEMORY = '/sys/fs/cgroup/memory';

/** Whether groups of version 1 can be made here. */
function canLimit(): boolean {
  try {
    accessSync(path.join(MEMORY, 'memory.limit_in_bytes'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

it.skipIf(!canLimit())(
  'a program that is killed for lack of memory is told so, with the limit',
  async () => {
    const group = path.join(MEMORY, `gradwire-test-${process.pid}`);
    mkdirSync(group);
    try {
      writeFileSync(path.join(group, 'memory.limit_in_bytes'), `${800 << 20}`);
      {
        await using limited = new GradwireHome();
        const grow = 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));';
        const command = limited.start(
          ['exec', '--ranks', '1', '--', process.execPath, '-e', grow],
          { shell: `echo $$ > ${group}/cgroup.procs` },
        );
        const { code, stderr } = await command.finished;
        expectOneLine(stderr, 'PROGRAM_FAILED');
        expect(stderr).toContain(
          'the program ended by SIGKILL: the system killed for lack of memory in its ' +
            'control group, which may have 800 MiB',
        );
        expect(stderr).toContain('Give the container or the job more memory');
        expect(code).toBe(1);
      }
    } finally {
      rmdirSync(group);
    }
  },
);
