/** What one run does to its supervisor, or the system to it, is nothing to the other runs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { isAlive, until } from '../../harness/processes.ts';
import { ofType, type OfType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';

/** The group of all processes, where their number can be limited. */
const PIDS =
  ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].find((directory) =>
    existsSync(`${directory}/cgroup.procs`),
  ) ?? '/sys/fs/cgroup/pids';

const MOUNTS =
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

const spec = (iterations: number) =>
  parseExperimentSpec({
    ...{ workload: { model: 'fnn3', dataset: 'digits' }, world: { ranks: 1 } },
    ...{ optimizer: { lr: 0.2 }, evaluateEvery: 0, iterations },
  });

it('a fault that nothing catches ends the run that it belongs to', async () => {
  const faults = path.join(import.meta.dirname, 'faulty-supervisor.mjs');
  await using node = await SupervisorNode.start(undefined, {
    NODE_OPTIONS: `--import ${faults}`,
  });
  const other = await node.launch('other', spec(1_000_000));
  const victim = await node.prepare('victim', spec(1_000_000)).catch(String);
  // It fails before or after its ranks listen.
  const error = {
    code: 'INTERNAL',
    message: expect.stringContaining('a fault of the run') as string,
  };
  if (typeof victim === 'string') expect(victim).toContain('a fault of the run');
  else expect(await endOf(victim.entries)).toMatchObject({ type: 'failed', error });
  await until(
    () =>
      ofType(
        other.map(({ record }) => record),
        'iteration',
      ).length,
    (count) => count > 3,
    'the other run to go on',
  );
  await node.connection.request('stop', { run: 'other' });
  expect(await endOf(other)).toMatchObject({ type: 'done', reason: 'stopped' });
});

describe('a run that the system gives too little', () => {
  it(
    'too few descriptors: it says so, and the other ends as if alone',
    { tags: 'soak' },
    async () => {
      const quick = ['iterations=60', 'world.ranks=1', 'evaluateEvery=0'];
      await using alone = new GradwireHome();
      await using home = new GradwireHome();
      const undisturbed = alone.startQuickstart(quick);
      const other = home.startQuickstart(quick, { shell: 'ulimit -n 64' });
      await other.record('iteration');
      // More than fit, whether or not the other, and its supervisor, have ended by then.
      const starved = await home.start(
        ['run', 'quickstart', '--set', 'iterations=2', '--set', 'world.ranks=24'],
        { shell: 'ulimit -n 64' },
      ).finished;
      expect(starved.code).toBe(1);
      expect(starved.stderr).toMatch(
        /OPEN_FILES_LIMIT: rank \d+ cannot be started: .*ulimit -n/,
      );
      succeeded(await other.finished);
      succeeded(await undisturbed.finished);
      expect(ofType(other.records, 'done')[0]!.weights).toBe(
        ofType(undisturbed.records, 'done')[0]!.weights,
      );
    },
  );

  /** What the second run lacks; the first has all that it needs by then. */
  const LACKS: readonly {
    readonly name: string;
    readonly codes: RegExp;
    /** The reason why it cannot be made here, where there is one. */
    readonly missing?: string | undefined;
    /** Returns what undoes it. */
    readonly starve: (supervisor: number, node: SupervisorNode) => () => void;
  }[] = [
    {
      name: 'descriptors',
      codes: /^OPEN_FILES_LIMIT$/,
      starve: (supervisor) => {
        const open = readdirSync(`/proc/${supervisor}/fd`).length;
        limit(supervisor, `--nofile=${open + 2}`);
        return () => undefined;
      },
    },
    {
      name: 'processes',
      codes: /^PROCESS_LIMIT$/,
      missing: existsSync(PIDS) ? undefined : `there is no ${PIDS}`,
      starve: (supervisor) => {
        const group = `${PIDS}/gradwire-${supervisor}`;
        mkdirSync(group);
        writeFileSync(`${group}/cgroup.procs`, String(supervisor));
        const threads = readdirSync(`/proc/${supervisor}/task`).length;
        writeFileSync(`${group}/pids.max`, String(threads));
        return () => {
          writeFileSync(`${PIDS}/cgroup.procs`, String(supervisor));
          rmdirSync(group);
        };
      },
    },
    {
      name: 'memory',
      codes: /^ADDRESS_SPACE_LIMITED$/,
      starve: (supervisor) => {
        // Less than a rank reserves for WebAssembly.
        limit(supervisor, '--as=4000000000');
        return () => undefined;
      },
    },
    {
      name: 'space',
      codes: /^JOURNAL_WRITE_FAILED$/,
      missing: MOUNTS ? undefined : 'nothing may be mounted',
      starve: (_, { home }) => {
        const folder = path.join(home.directory, 'runs', 'starved');
        mkdirSync(folder, { recursive: true });
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder]);
        return () => {
          execFileSync('umount', ['--lazy', folder]);
        };
      },
    },
  ];

  it('no descriptor for the command itself: it names the limit', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart(['iterations=1', 'world.ranks=1'], {
      shell: 'ulimit -n 24',
    });
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toContain('OPEN_FILES_LIMIT');
    expect(stderr).not.toContain('SUPERVISOR_UNREACHABLE');
  });

  const processes = LACKS.find(({ name }) => name === 'processes')!;
  const but = (missing?: string): string =>
    missing === undefined ? '' : `, but ${missing}`;
  /** Node starts its threads for files when the first is read, and aborts where it may not. */
  it.skipIf(processes.missing !== undefined)(
    `no further thread before its first run: the supervisor says so${but(processes.missing)}`,
    async () => {
      await using node = await SupervisorNode.start();
      const [supervisor] = node.home.supervisors();
      const undo = processes.starve(supervisor!.pid, node);
      try {
        expect(await failureOf(node)).toBe('PROCESS_LIMIT');
        expect(isAlive(supervisor!)).toBe(true);
      } finally {
        undo();
      }
    },
  );

  describe.each(LACKS)('once it runs', { tags: 'soak' }, (lack) => {
    const { codes, missing, name, starve } = lack;
    it.skipIf(missing !== undefined)(`too little: ${name}${but(missing)}`, async () => {
      await using node = await SupervisorNode.start();
      const weightsOf = async (entries: Promise<readonly JournalEntry[]>) => {
        const end = await endOf(await entries);
        expect(end).toMatchObject({ type: 'done', reason: 'completed' });
        return (end as OfType<'done'>).weights;
      };
      const expected = await weightsOf(node.launch('alone', spec(300)));
      const other = await node.launch('other', spec(300));
      await until(
        () => other.length,
        (count) => count > 3,
        'the other run to be under way',
      );
      const [supervisor] = node.home.supervisors();
      const undo = starve(supervisor!.pid, node);
      try {
        expect(await failureOf(node)).toMatch(codes);
        expect(await weightsOf(Promise.resolve(other))).toBe(expected);
        expect(isAlive(supervisor!)).toBe(true);
      } finally {
        undo();
      }
    });
  });
});

function limit(pid: number, option: string): void {
  execFileSync('prlimit', [`--pid=${pid}`, option]);
}

/** The code with which a run with the id `starved` ends, before or after it has begun. */
async function failureOf(node: SupervisorNode): Promise<string> {
  try {
    const end = await endOf(await node.launch('starved', spec(1_000_000)));
    return end.type === 'failed' ? end.error.code : end.type;
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    return error.code;
  }
}
