import { describe, expect, it } from 'vitest';
import type {
  FailedRecord,
  RunRecord,
  StartedRecord,
} from '../../../src/shared/records.ts';
import { GradwireHome, type RunningCommand } from '../../harness/gradwire.ts';
import { effort } from '../../harness/effort.ts';
import { until } from '../../harness/processes.ts';

const isStarted = (record: RunRecord): record is StartedRecord =>
  record.type === 'started';

function failureOf(command: RunningCommand): FailedRecord['error'] {
  const failed = command.records.find((record) => record.type === 'failed');
  if (failed === undefined) throw new Error('the run has no failed record');
  return failed.error;
}

const isIteration = (
  record: RunRecord,
): record is Extract<RunRecord, { type: 'iteration' }> => record.type === 'iteration';

/** Of a home that has one run. */
const workersOf = (home: GradwireHome): readonly number[] =>
  home.processes('gradwire worker').map(({ pid }) => pid);

/** Every process of the run leaves, and those of the home. */
async function everyProcessEnds(home: GradwireHome): Promise<void> {
  await until(
    () => home.processes(),
    (left) => left.length === 0,
    'all processes of the run to end',
  );
}

/** More in the soak, and at random moments there. */
const KILLS = effort({ quick: 6, soak: 40 });

/** One line, coded, no stack. */
function expectOneLine(stderr: string, code: string): void {
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(new RegExp(`^gradwire: ${code}: `));
  expect(stderr).not.toMatch(/\n\s+at /);
}

describe('a run that goes wrong', () => {
  it('ends, naming the rank, when a worker is killed at any moment', async () => {
    for (let round = 0; round < KILLS; round++) {
      await using home = new GradwireHome();
      const command = home.startQuickstart([
        'iterations=100000',
        `exchange.method=${['none', 'topk', 'a2sgd'][round % 3]}`,
      ]);
      const { processes } = await command.record(isStarted);
      // Another iteration each time: in the middle of compute, of exchange, of apply.
      await command.record(
        (record): record is Extract<RunRecord, { type: 'iteration' }> =>
          isIteration(record) && record.iteration >= (round * 7) % 40,
      );
      const victim = processes[round % processes.length]!;
      process.kill(victim.pid, 'SIGKILL');
      const { code, stderr } = await command.finished;
      // Not by the limits on silence, which name another reason.
      expectOneLine(stderr, 'WORKER_DIED');
      expect(code).toBe(1);
      expect(failureOf(command)).toMatchObject({
        code: 'WORKER_DIED',
        rank: victim.rank,
      });
      expect(workersOf(home)).toEqual([]);
      await everyProcessEnds(home);
    }
  });

  it('names the rank that hangs, not one that gave up waiting for it', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart(['iterations=100000', 'timeoutSeconds=1']);
    const { processes } = await command.record(isStarted);
    const victim = processes[2]!;
    process.kill(victim.pid, 'SIGSTOP');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expectOneLine(stderr, 'PEER_SILENT');
    expect(failureOf(command)).toMatchObject({ rank: victim.rank });
    expect(stderr).toMatch(
      new RegExp(`rank ${victim.rank} gave rank \\d no sign of life within 1 s`),
    );
    expect(workersOf(home)).toEqual([]);
  });

  it('names tensor, rank and iteration of a gradient that is not finite', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart(['iterations=200', 'optimizer.lr=1e30']);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expectOneLine(stderr, 'GRADIENT_NOT_FINITE');
    expect(failureOf(command)).toMatchObject({ code: 'GRADIENT_NOT_FINITE' });
    expect(failureOf(command).message).toMatch(
      /tensor \S+ is (NaN|-?Infinity).*iteration \d+/,
    );
    expect(failureOf(command).place).toMatch(/^rank \d$/);
  });

  it('says so when the disk takes no more, and keeps what was journalled', async () => {
    await using home = new GradwireHome();
    // A limit on the size of files stands in for a full disk: writes fail the same way.
    const command = home.startQuickstart(['iterations=100000'], {
      shell: 'ulimit -f 600; trap "" XFSZ',
    });
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/JOURNAL_WRITE_FAILED|DATABASE_WRITE_FAILED/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(
      command.records.filter((record) => record.type === 'iteration').length,
    ).toBeGreaterThan(0);
    // Where the database was full first the run goes on until its journal is full too.
    await everyProcessEnds(home);
  });

  const ITERATIONS = 150;
  it('loses nothing when the command is killed: the run goes on and is found again', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart([`iterations=${ITERATIONS}`]);
    const { processes } = await command.record(isStarted);
    process.kill(command.child.pid!, 'SIGKILL');
    await command.finished;
    const pids = processes.map(({ pid }) => pid);
    expect(workersOf(home).toSorted()).toEqual(pids.toSorted());
    await everyProcessEnds(home);
    const list = await home.run(['runs', 'list', '--json']);
    expect(list.code).toBe(0);
    const [run] = list.stdout
      .trim()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as { id: string; state: string; iterations: number },
      );
    expect(run).toMatchObject({
      ...{ state: 'completed', iterations: ITERATIONS },
    });
    const exported = await home.run(['runs', 'export', run!.id, '--format', 'json']);
    const { iterations } = JSON.parse(exported.stdout) as { iterations: unknown[] };
    expect(iterations).toHaveLength(4 * ITERATIONS);
  });

  it('takes its workers with it when the supervisor dies, and keeps what it journalled', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart(['iterations=100000']);
    const { processes } = await command.record(isStarted);
    await command.record(
      (record): record is Extract<RunRecord, { type: 'iteration' }> =>
        isIteration(record) && record.iteration === 20,
    );
    expect(workersOf(home)).toHaveLength(processes.length);
    const [supervisor] = home.supervisors();
    process.kill(supervisor!.pid, 'SIGKILL');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toContain('SUPERVISOR_LOST');
    await everyProcessEnds(home);
  });
});
